// Package workspace owns a run's files: which path lies inside the root, what
// is read from there, where a position in a text is, and every write. It is
// the only room that writes files (design.md sections 2 and 5).
//
// # Confinement
//
// A root is held as an [os.Root]: paths are walked from its open descriptor,
// so that no symlink, and none that is swapped in while a call runs, leads
// out of it. What this does not stop: mount points and hard links inside the
// root, and children that other rooms start. [Workspace.Rel] turns what a
// caller wrote into the one spelling that the rest of the package takes: a
// clean, slash-separated path relative to the root.
//
// # Writing
//
// [Workspace.Apply] writes several files as one transaction:
//
//  1. Check every file against the content that its change was computed from.
//  2. Write a record of what is about to happen into the state folder.
//  3. Write and sync each new content to a temporary sibling, with the mode
//     and owner of the file that it will replace; keep the old file under a
//     second name beside it (a hard link, so that putting it back needs no
//     room on the disk and is exact; a copy where there are no hard links).
//  4. Rename each temporary over its file, and sync the folders.
//  5. Mark the record as done: from here on the transaction is not undone.
//  6. Remove the siblings and the record.
//
// A failure before step 5 is over puts every file back. After a crash the
// next start's [Pool.Recover] does the same from the record, or cleans up
// behind a transaction that was done. Either leaves alone, and names, a file
// that somebody else changed in between.
//
// A written file is a new one: hard links to the old one keep the old content,
// and extended attributes are not carried over.
//
// # Locking
//
// All handles of one root share a write mutex, held for a whole transaction.
// It orders writers of this daemon only. A file that another program saves
// after the check is noticed by a look right before its rename, and one that
// is written in place even later, up to step 5. A program that saves by a
// rename of its own, in the instant between that look and ours, loses. The
// state folder is locked against a second daemon.
//
// The package starts no goroutine.
package workspace
