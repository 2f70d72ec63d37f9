# cmake -DINPUT=FILE -DOUTPUT=FILE.c -DNAME=symbol -P embed.cmake: a file as a C array.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes ${hex})
file(WRITE ${OUTPUT}
     "const unsigned char ${NAME}[] = {${bytes}};\n"
     "const unsigned long ${NAME}_size = sizeof ${NAME};\n")
