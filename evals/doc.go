// Package evals scores the answers of the server against golden questions.
//
// A golden file holds cases: a tool, its arguments, and what the answer must
// and must not hold, known from the source and not from this program. [Load]
// reads one, [Run] asks every question through the same door as a client and
// returns a [Report]: recall, precision@1, and every miss.
//
// [LoadQuestions] and [RunAgent] do the same for a coding agent: questions in
// plain words, asked with and without this server, graded by what the reply
// must name.
package evals
