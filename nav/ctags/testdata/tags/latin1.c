int café(void) {}
int ÿþ;
