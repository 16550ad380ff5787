// Package java reads Java with the compiler of a JDK on this machine: what files
// declare, from its parser, and what a name means, from its attribution.
//
// [New] returns a FrontEnd that runs nothing yet. The first question looks for a
// JDK of version 11 or newer, compiles the few Java files embedded here into a
// folder of their own, once for each JDK, and starts them as one long-running
// process with a bounded heap. Questions go to it as lines of JSON followed by the
// files' bytes. A question that takes too long kills the process group; a process
// that dies is started again, and the file that it died of is answered as
// incomplete.
//
// Builds are read as data: Maven's pom.xml, Gradle's settings and build files as
// far as they are plain declarations, module-info.java, and package declarations
// where there is nothing else. Libraries come from what is on disk already. Nothing
// of the project runs: no build, no annotation processor, no compiler plugin.
//
// Members of anonymous classes are no declarations; that includes what the body of
// an enum constant declares. The constant itself is one, and extends to the end of
// its body.
package java
