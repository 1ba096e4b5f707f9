import fc from 'fast-check'
import { mkdtemp, open, readdir, readFile, rm, writeFile, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { csvLine, writeWholeFile } from './exporting.ts'

describe('a CSV line', () => {
  it('quotes what must be quoted and leaves the rest alone', () => {
    expect(csvLine([1, 'plain', null, 'a,b', 'say "hi"', 'two\nlines', ' blank', ''])).toBe(
      '1,plain,,"a,b","say ""hi""","two\nlines"," blank",\r\n',
    )
  })

  it('never changes the content, not even of what a spreadsheet would calculate', () => {
    expect(csvLine(['=1+1', '+x', '@y', '-2'])).toBe('=1+1,+x,@y,-2\r\n')
  })

  it('is read back as it was by any reader of RFC 4180', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.array(fc.string({ unit: fc.constantFrom('a', ',', '"', '\r', '\n', ' ', 'é') }), {
            minLength: 2,
            maxLength: 4,
          }),
          {
            minLength: 1,
            maxLength: 4,
          },
        ),
        (rows) => {
          expect(parseCsv(rows.map(csvLine).join(''))).toEqual(rows)
        },
      ),
    )
  })

  /** The grammar of RFC 4180, character by character. */
  const parseCsv = (text: string): readonly (readonly string[])[] => {
    const rows: string[][] = []
    let row: string[] = []
    let field = ''
    let quoted = false
    for (let at = 0; at < text.length; at += 1) {
      const character = text.charAt(at)
      if (quoted) {
        if (character !== '"') field += character
        else if (text.charAt(at + 1) === '"') {
          field += '"'
          at += 1
        } else quoted = false
      } else if (character === '"') quoted = true
      else if (character === ',') {
        row.push(field)
        field = ''
      } else if (text.startsWith('\r\n', at)) {
        rows.push([...row, field])
        row = []
        field = ''
        at += 1
      } else field += character
    }
    return rows
  }
})

describe('a file', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-file-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const path = () => join(folder, 'out')

  it('writes piece by piece and returns what the writer returns', async () => {
    const result = await writeWholeFile(path(), { force: false }, async (write) => {
      await write('one ')
      await write('two')
      expect(await readdir(folder)).not.toContain('out')
      return 2
    })
    expect(result).toBe(2)
    expect(await readFile(path(), 'utf8')).toBe('one two')
  })

  it.each([true, false])(
    'is in its folder on the disk, too, when it is written (force: %s)',
    async (force) => {
      const synced: (readonly [isFolder: boolean, isInPlace: boolean])[] = []
      await using handle = await open(folder, 'r')
      const { ino } = await handle.stat()
      const prototype = Object.getPrototypeOf(handle) as Pick<FileHandle, 'sync'>
      const sync = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
        const isFolder = (await this.stat()).ino === ino
        synced.push([isFolder, (await readdir(folder)).includes('out')])
      })
      try {
        await writeWholeFile(path(), { force }, (write) => write('text'))
      } finally {
        sync.mockRestore()
      }
      expect(synced).toEqual([
        [false, false],
        [true, true],
      ])
    },
  )

  it('leaves nothing behind when writing fails', async () => {
    const failing = writeWholeFile(path(), { force: true }, async (write) => {
      await write('half')
      throw new Error('the log broke')
    })
    await expect(failing).rejects.toThrow('the log broke')
    expect(await readdir(folder)).toEqual([])
  })

  it('does not replace a file that somebody made meanwhile', async () => {
    const late = writeWholeFile(path(), { force: false }, async (write) => {
      await write('ours')
      await writeFile(path(), 'theirs')
    })
    await expect(late).rejects.toMatchObject({ code: 'file.exists' })
    expect(await readFile(path(), 'utf8')).toBe('theirs')
    expect(await readdir(folder)).toEqual(['out'])
  })
})
