import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 200
const HEARTBEAT_MS = 2_000
/** A holder that has shown no sign of life for so long is gone, even if another process took its pid. */
const SILENCE_MS_MAX = 30_000

/**
 * Runs `work` while no other process on this folder does. Making a folder is atomic on every file system, so the
 * folder is the lock; what a killed holder leaves behind is recognised and taken over.
 */
export const withLock = async (folder, work, { onWait = () => {} } = {}) => {
  const owner = { token: randomUUID(), pid: process.pid, host: hostname() }
  await acquire(folder, owner, onWait)
  const heartbeat = setInterval(() => touch(folder), HEARTBEAT_MS)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    release(folder, owner)
  }
}

const acquire = async (folder, owner, onWait) => {
  mkdirSync(dirname(folder), { recursive: true })
  let hasWaited = false
  while (!tryMake(folder, owner)) {
    const holder = readOwner(folder)
    if (isStale(folder, holder)) {
      takeAway(folder, holder)
      continue
    }
    if (!hasWaited) onWait(holder)
    hasWaited = true
    await sleep(POLL_MS)
  }
}

const tryMake = (folder, owner) => {
  try {
    mkdirSync(folder)
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
  writeFileSync(ownerFile(folder), JSON.stringify(owner))
  return true
}

const isStale = (folder, holder) => {
  if (holder !== undefined && holder.host === hostname() && !isAlive(holder.pid)) return true
  const touchedMs = touchedAtMs(folder)
  return touchedMs !== undefined && Date.now() - touchedMs > SILENCE_MS_MAX
}

/**
 * Renaming lets only one of several waiters remove a stale lock. If someone was faster and it is a new holder's
 * lock that was moved, it goes back.
 */
const takeAway = (folder, holder) => {
  const aside = `${folder}-stale-${randomUUID()}`
  try {
    renameSync(folder, aside)
  } catch (error) {
    if (error.code === 'ENOENT') return
    throw error
  }
  if (readOwner(aside)?.token === holder?.token) rmSync(aside, { recursive: true, force: true })
  else renameSync(aside, folder)
}

const release = (folder, owner) => {
  if (readOwner(folder)?.token === owner.token) rmSync(folder, { recursive: true, force: true })
}

const ownerFile = (folder) => join(folder, 'owner.json')

/** Undefined between a holder's mkdir and its write, and after a holder has let go. */
const readOwner = (folder) => {
  try {
    return JSON.parse(readFileSync(ownerFile(folder), 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

const touchedAtMs = (folder) => statSync(folder, { throwIfNoEntry: false })?.mtimeMs

const touch = (folder) => {
  const now = new Date()
  try {
    utimesSync(folder, now, now)
  } catch (error) {
    // Somebody judged us dead, for instance after a long suspend: the work is finished without a heartbeat.
    if (error.code !== 'ENOENT') throw error
  }
}

/** Signal 0 only asks whether the process exists; EPERM means that it does and belongs to another user. */
const isAlive = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
