import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { canonicalJson } from '../../src/core/log/canonical-json.ts'
import { testSigner } from '../signer.fixture.ts'

const page = readFileSync(new URL('../../docs/treasury.md', import.meta.url), 'utf8')
const script = /```js\n(.*?)```/s.exec(page)?.[1] ?? ''

it('docs/treasury.md shows how to check a signature with Node alone', async () => {
  const signer = testSigner()
  const shown = {
    id: 'größe',
    contributors: [{ node_id: 'ann', share: 0.333333334, contributor_id: 'c' }],
    total_usd: 1e-6,
    tx_hash: null,
  }
  const signature_b64 = Buffer.from(signer.sign(canonicalJson(shown)), 'hex').toString('base64')
  const folder = await mkdtemp(join(tmpdir(), 'svc-doc-'))
  const file = join(folder, 'verify-karma.mjs')
  await writeFile(file, script)
  const check = (items: unknown) =>
    spawnSync(process.execPath, [file, signer.publicKey], { input: JSON.stringify(items), encoding: 'utf8' })
  const good = check({ items: [{ ...shown, signature_b64 }] })
  expect([good.status, good.stdout]).toEqual([0, 'ok  größe\n'])
  const bad = check([{ ...shown, total_usd: 1, signature_b64 }])
  expect([bad.status, bad.stdout]).toEqual([1, 'BAD größe\n'])
  await rm(folder, { recursive: true })
})
