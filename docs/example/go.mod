module example.org/mine

go 1.26

require privkern v0.0.0

replace privkern => ../..
