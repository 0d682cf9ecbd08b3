#include "races.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cudasim {

void Races::launch(cudasim_uint3 block_dim, const char *kernel_begin, const char *kernel_end, const char *dynamic_begin, const char *dynamic_end) {
  dim = block_dim;
  threads = dim.x * dim.y * dim.z;
  message.clear();
  late = false;
  arrays.clear();
  ranges.clear();
  if (kernel_begin != kernel_end) ranges.push_back({"static shared memory", kernel_begin, size_t(kernel_end - kernel_begin)});
  if (dynamic_begin != dynamic_end) ranges.push_back({"dynamic shared memory", dynamic_begin, size_t(dynamic_end - dynamic_begin)});
  stamps.assign(threads, 0);
  known.assign(size_t(threads + 31) / 32 * 32 * 32, 0);
  if (next > UINT32_MAX / 8) forget();
  first_of_launch = next;
  blocks.clear();
}

void Races::finish() {
  pending = nullptr;
  if (pages.size() > most_pages) forget();
}

// All that was accessed is forgotten, and the stamps begin anew.
void Races::forget() {
  for (auto &p : pages) free(p.second.cells);
  pages.clear();
  std::fill(std::begin(cache), std::end(cache), std::pair<uintptr_t, Page *>{});
  next = first_of_launch = first_of_block = first_of_stretch = 1;
}

void Races::block(cudasim_uint3 i) {
  index = i;
  line = 0;
  passed = 0;
  first_of_block = next;
  blocks.emplace_back(next, i);
  stretch();
}

void Races::barrier(int l) {
  line = l;
  passed++;
  stretch();
}

// What follows is ordered after all that the block has done.
void Races::stretch() {
  if (next > UINT32_MAX / 4) { // of a single launch: what other blocks did is lost, and no false alarm comes of it
    forget();
    blocks.assign(1, {next, index});
  }
  first_of_stretch = next;
  owners.resize(threads);
  for (unsigned t = 0; t < threads; t++) {
    owners[t] = t;
    stamps[t] = next++;
  }
  if (met) std::fill(known.begin(), known.end(), 0u);
  met = false;
}

void Races::exchange(unsigned warp, unsigned lanes) {
  met = true;
  // Each knows what any of them knew, and what they have done themselves.
  uint32_t all[32] = {};
  for (unsigned l = 0; l < 32; l++)
    if (lanes >> l & 1) {
      const uint32_t *k = &known[size_t(warp + l) * 32];
      for (unsigned o = 0; o < 32; o++) all[o] = std::max(all[o], k[o]);
    }
  for (unsigned l = 0; l < 32; l++)
    if (lanes >> l & 1) all[l] = stamps[warp + l];
  for (unsigned l = 0; l < 32; l++)
    if (lanes >> l & 1) {
      std::copy(all, all + 32, &known[size_t(warp + l) * 32]);
      stamps[warp + l] = next++;
      owners.push_back(warp + l);
    }
}

void Races::shared(const char *name, const char *begin, size_t bytes) {
  for (auto &a : arrays)
    if (a.begin == begin) return;
  arrays.push_back({name, begin, bytes});
}

bool Races::in_shared(const char *at) const {
  for (auto *list : {&ranges, &arrays})
    for (auto &a : *list)
      if (at >= a.begin && at < a.begin + a.bytes) return true;
  return false;
}

Races::Page &Races::page_of(uintptr_t at, unsigned shift) {
  const uintptr_t number = at / page;
  auto &slot = cache[number % cached];
  if (slot.first != number || !slot.second) slot = {number, &pages.emplace(number, Page{shift, nullptr}).first->second};
  Page &p = *slot.second;
  if (p.cells && p.shift <= shift) return p;
  Cell *fine = static_cast<Cell *>(calloc(page >> shift, sizeof(Cell)));
  if (!fine) {
    fprintf(stderr, "cudasim: no memory to check for races\n");
    abort();
  }
  for (size_t i = 0; p.cells && i < page >> shift; i++) fine[i] = p.cells[i << shift >> p.shift];
  free(p.cells);
  p = {shift, fine};
  return p;
}

// Whether the access with a stamp is ordered before what the thread does now.
bool Races::ordered(uint32_t before, unsigned thread, const char *at) const {
  if (before < first_of_launch) return true;
  if (before < first_of_block) return in_shared(at); // which is another block's own
  if (before < first_of_stretch) return true;
  const unsigned other = owners[before - first_of_stretch];
  return other == thread || (other / 32 == thread / 32 && before <= known[size_t(thread) * 32 + other % 32]);
}

std::string Races::describe(unsigned thread, const char *at, const char *verb, uint32_t before, const char *did) const {
  auto who = [this](unsigned t) {
    char text[80];
    snprintf(text, sizeof text, "thread (%u, %u, %u)", t % dim.x, t / dim.x % dim.y, t / dim.x / dim.y);
    return std::string(text);
  };
  char text[400], place[160];
  const Array *in = nullptr;
  for (auto *list : {&ranges, &arrays}) // an array's name says more than the whole
    for (auto &a : *list)
      if (at >= a.begin && at < a.begin + a.bytes) in = &a;
  if (in) snprintf(place, sizeof place, "byte %zu of %s", size_t(at - in->begin), in->name);
  else snprintf(place, sizeof place, "address %p", static_cast<const void *>(at));
  snprintf(text, sizeof text, "%s of block (%u, %u, %u) %s %s, ", who(thread).c_str(), index.x, index.y, index.z, verb, place);
  std::string out = text;
  if (before < first_of_block) {
    auto b = std::upper_bound(blocks.begin(), blocks.end(), before, [](uint32_t s, auto &entry) { return s < entry.first; }) - 1;
    snprintf(text, sizeof text, "which block (%u, %u, %u) %s: nothing orders two blocks of a launch", b->second.x, b->second.y, b->second.z, did);
  } else {
    char since[80] = "since the block began";
    if (passed) snprintf(since, sizeof since, "since __syncthreads in line %d, barrier %u of the block", line, passed);
    snprintf(text, sizeof text, "which %s %s %s", who(owners[before - first_of_stretch]).c_str(), did, since);
  }
  return out + text;
}

bool Races::settle() {
  if (!pending) return true;
  const bool same = memcmp(pending, pending_value, pending_bytes) == 0;
  pending = nullptr;
  late = !same;
  if (late) message = pending_message;
  return same;
}

bool Races::access(unsigned thread, const char *at, size_t bytes, Kind kind) {
  if (!settle()) return false;
  accesses++;
  while (bytes > 0) { // page by page
    const size_t here = std::min(bytes, page - uintptr_t(at) % page);
    if (!check(thread, at, here, kind)) return false;
    at += here;
    bytes -= here;
  }
  return true;
}

bool Races::check(unsigned thread, const char *at, size_t bytes, Kind kind) {
  const uint32_t mine = stamps[thread] * 2 + (kind == ATOMIC);
  unsigned shift = 0; // of the largest pieces that the access is made of
  while (shift < 3 && !((uintptr_t(at) | bytes) >> shift & 1)) shift++;
  const Page &in = page_of(uintptr_t(at), shift);
  for (size_t i = 0; i < bytes; i += size_t(1) << in.shift) {
    const char *p = at + i;
    Cell &c = in.cells[uintptr_t(p) % page >> in.shift];
    const bool both_atomic = kind == ATOMIC && (c.write & 1);
    if (!both_atomic && !ordered(c.write / 2, thread, p)) {
      std::string text = describe(thread, p, kind == READ ? "reads" : kind == WRITE ? "writes" : "changes", c.write / 2,
                                  c.write & 1 ? "has changed" : "has written");
      if (kind != WRITE || (c.write & 1) || bytes > sizeof pending_value || in_shared(p)) {
        message = text;
        return false;
      }
      if (!pending) {
        pending = at;
        pending_bytes = bytes;
        memcpy(pending_value, at, bytes);
        pending_message = text + ", another value";
      }
    }
    if (kind == READ) {
      if (c.read != mine && c.other != mine) (ordered(c.read / 2, thread, p) ? c.read : c.other) = mine;
      continue;
    }
    for (uint32_t read : {c.read, c.other})
      if (!ordered(read / 2, thread, p)) {
        message = describe(thread, p, kind == WRITE ? "writes" : "changes", read / 2, "has read");
        return false;
      }
    c.write = mine;
    c.read = c.other = 0;
  }
  return true;
}

} // namespace cudasim
