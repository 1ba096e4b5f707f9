import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One hash over names and contents: a renamed, added, removed or changed file gives another one. */
export const contentHash = (root, names) => {
  const hash = createHash('sha256')
  for (const file of names.flatMap((name) => filesUnder(root, name)).toSorted()) {
    const content = readFileSync(join(root, file))
    hash.update(`${file}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** The stamp that the last complete run left behind, or undefined. */
export const readStamp = (file) => (existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined)

export const writeStamp = (file, hash) => writeFileSync(file, `${hash}\n`)

const filesUnder = (root, name) => {
  const path = join(root, name)
  if (!existsSync(path)) return []
  if (!statSync(path).isDirectory()) return [name]
  return readdirSync(path).flatMap((child) => filesUnder(root, `${name}/${child}`))
}
