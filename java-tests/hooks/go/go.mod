module library

go 1.13
