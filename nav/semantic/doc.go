// Package semantic answers find_code from parser declarations and compiler
// front ends.
//
// A [Parser] reads files one by one and says what each declares; a [Resolver] is
// a real compiler front end and says what a name means. What a parser or a front
// end could not do is part of its answer, so that an absence can be trusted.
package semantic
