import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { connect, prepare } from '../../src/adapters/storage/sqlite/database.ts'
import type { RawCommits } from './raw-commits.ts'

/** About what a stop stores: its six events with their indexes. */
const ROWS = 6
const TEXT = 'x'.repeat(900)

const { path, everyMs, forMs } = workerData as RawCommits
const db = connect(path, 'write')
db.exec('CREATE TABLE events (seq INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT')
const insert = prepare(db, 'INSERT INTO events (payload) VALUES (?)')
const delaysMs: number[] = []
const beganMs = performance.now()
for (let nextMs = beganMs; nextMs < beganMs + forMs; nextMs += everyMs) {
  await sleep(Math.max(0, nextMs - performance.now()))
  const startedMs = performance.now()
  db.exec('BEGIN IMMEDIATE')
  for (let row = 0; row < ROWS; row += 1) insert.run(TEXT)
  db.exec('COMMIT')
  delaysMs.push(performance.now() - startedMs)
}
db.close()
parentPort?.postMessage(delaysMs, [])
