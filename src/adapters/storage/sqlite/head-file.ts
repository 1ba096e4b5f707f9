import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { RecordedHead } from '../../../ports/event-log.ts'
import { assertIsFile, NO_LINK_NO_WAIT, openFault } from '../../files.ts'

/** File beside the database with the newest event that was ever acknowledged. */
const headFileOf = (path: string): string => `${path}.head`

/** Null if the file does not exist or cannot be read. */
export const readHeadFile = (path: string): RecordedHead | null => {
  const file = headFileOf(path)
  if (!existsSync(file)) return null
  const opened = openOwn(file, constants.O_RDONLY)
  try {
    return parsed(readFileSync(opened, 'latin1'))
  } finally {
    closeSync(opened)
  }
}

/** Neither follows a link nor waits for a pipe that was put in the place of the file. */
const openOwn = (file: string, flags: number): number => {
  let opened: number
  try {
    opened = openSync(file, flags | NO_LINK_NO_WAIT, 0o600)
  } catch (error) {
    throw openFault(file, error)
  }
  try {
    assertIsFile(file, fstatSync(opened))
    return opened
  } catch (error) {
    closeSync(opened)
    throw error
  }
}

/** Moves the file aside and never deletes it. Afterwards the content of the log counts. Null if there is no file. */
export const setHeadFileAside = (path: string, label: string): string | null => {
  const file = headFileOf(path)
  if (!existsSync(file)) return null
  const movedTo = `${file}.${label.replaceAll(':', '-')}`
  renameSync(file, movedTo)
  return movedTo
}

/**
 * Records the newest event outside the database and its journal, so that the loss of either shows. Every commit writes
 * it before it is acknowledged, so the file is right however the process ends. It is synced once a second: after a
 * power cut it may be a second behind, never ahead.
 */
export class HeadFile {
  readonly #path: string
  readonly #hashAt: (seq: number) => string | null
  #file: number | null = null
  #isDirty = false
  /**
   * True if the file names an event that the log does not hold. The file is then evidence until an operator sets it
   * aside.
   */
  #isEvidence: boolean | null = null

  constructor(path: string, hashAt: (seq: number) => string | null) {
    this.#path = path
    this.#hashAt = hashAt
  }

  /** Called before a commit. Throws if the file cannot be written, while no event depends on it yet. */
  prepare(): void {
    if (!this.#mustKeep()) this.#file ??= this.#open()
  }

  write(head: RecordedHead): void {
    if (this.#mustKeep()) return
    this.#file ??= this.#open()
    // Another process may have written a later head in between.
    const found = this.#read(this.#file)
    if (found !== null && found.seq >= head.seq) return
    writeSync(this.#file, headLine(head), 0, 'latin1')
    this.#isDirty = true
  }

  /** Called once a second. The file is opened anew afterwards, since it may have been set aside. */
  sync(): void {
    if (this.#file === null) return
    if (this.#isDirty) fsyncSync(this.#file)
    this.#isDirty = false
    this.close()
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #open(): number {
    const file = headFileOf(this.#path)
    const isNew = !existsSync(file)
    const opened = openOwn(file, constants.O_RDWR | constants.O_CREAT)
    if (isNew) syncFolder(dirname(file))
    return opened
  }

  #mustKeep(): boolean {
    if (this.#isEvidence === null) {
      const found = readHeadFile(this.#path)
      this.#isEvidence = found !== null && this.#hashAt(found.seq) !== found.hash
    }
    if (this.#isEvidence && !existsSync(headFileOf(this.#path))) this.#isEvidence = false
    return this.#isEvidence
  }

  #read(file: number): RecordedHead | null {
    const bytes = Buffer.alloc(LENGTH)
    return readSync(file, bytes, 0, LENGTH, 0) < LENGTH ? null : parsed(bytes.toString('latin1'))
  }
}

const SEQ_DIGITS = 16
/** One line of constant length, far shorter than a sector, so it is written as a whole. */
const LENGTH = SEQ_DIGITS + 1 + 64 + 1

const headLine = ({ seq, hash }: RecordedHead): string => `${String(seq).padStart(SEQ_DIGITS, '0')} ${hash}\n`

const parsed = (text: string): RecordedHead | null => {
  const [, seq, hash] = LINE.exec(text) ?? []
  return seq === undefined || hash === undefined ? null : { seq: Number(seq), hash }
}

const LINE = /^(\d{16}) ([0-9a-f]{64})\n$/

const syncFolder = (folder: string): void => {
  const opened = openSync(folder, constants.O_RDONLY)
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
