// Package evals scores the answers of the server against golden questions.
package evals
