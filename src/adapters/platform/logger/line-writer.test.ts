import { spawnSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmdirSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { LineWriter, WAITING_BYTES_MAX } from './line-writer.ts'

const LINE = `${'x'.repeat(1023)}\n`

const endings: (() => void)[] = []
afterEach(() => {
  for (const end of endings.splice(0)) end()
})

/** A pipe as a process has it on standard error, with both ends. */
const pipe = (): { readonly fd: number; readonly read: () => string } => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-pipe-'))
  const path = join(folder, 'pipe')
  spawnSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  // Not with rmSync: it asks for the status of the pipe, and the next import that follows a link then fails (Node 20).
  unlinkSync(path)
  rmdirSync(folder)
  endings.push(() => closeSync(fd))
  endings.push(() => closeSync(reader))
  const buffer = Buffer.alloc(WAITING_BYTES_MAX)
  return {
    fd,
    read: () => {
      try {
        return buffer.toString('utf8', 0, readSync(reader, buffer))
      } catch {
        // Nothing is there.
        return ''
      }
    },
  }
}

describe('a reader that stands still', () => {
  it('holds nobody up, and gets every line in order once it reads', async () => {
    const { fd, read } = pipe()
    const writer = new LineWriter(fd)
    const lines = Array.from({ length: 300 }, (_, index) => `${index} ${LINE}`)
    for (const line of lines) writer.write(line)
    let text = ''
    await vi.waitFor(() => {
      text += read()
      expect(text.length).toBe(lines.join('').length)
    }, 10_000)
    expect(text).toBe(lines.join(''))
    expect(writer.takeLost()).toBe(0)
  })

  it('loses what is more than may wait, and is told how much', async () => {
    const { fd, read } = pipe()
    const writer = new LineWriter(fd)
    const written = 2 * (WAITING_BYTES_MAX / LINE.length)
    for (let count = 0; count < written; count += 1) writer.write(LINE)
    expect(writer.takeLost()).toBe(0)
    let lost = 0
    let text = ''
    await vi.waitFor(() => {
      text += read()
      lost += writer.takeLost()
      expect(lost).toBeGreaterThan(0)
    }, 10_000)
    text += read()
    expect(text.length / LINE.length + lost).toBe(written)
  })

  it('gets the last lines at the end of the process', () => {
    const { fd, read } = pipe()
    const writer = new LineWriter(fd)
    for (let count = 0; count < 100; count += 1) writer.write(LINE)
    const first = read()
    writer.finish()
    expect((first + read()).length).toBe(100 * LINE.length)
  })
})

describe('what cannot be written', () => {
  it('is no error on a full disk', () => {
    const fd = openSync('/dev/full', 'w')
    endings.push(() => closeSync(fd))
    const writer = new LineWriter(fd)
    for (let count = 0; count < 3; count += 1) writer.write(LINE)
    expect(writer.takeLost()).toBe(0)
  })

  it('is dropped where nobody can read it any more', () => {
    const { fd } = pipe()
    endings.pop()?.()
    const writer = new LineWriter(fd)
    writer.write(LINE)
    writer.write(LINE)
    writer.finish()
    expect(writer.takeLost()).toBe(0)
  })
})
