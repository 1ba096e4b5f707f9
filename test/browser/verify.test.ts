import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXAMPLE_KEY, exampleData, exampleNote } from '../example-proof.fixture.ts'
import { consistencyProof } from '../rfc6962.fixture.ts'
import { consistencyProofText } from '../../src/core/log/proof.ts'
import { PROOF } from '../../src/surfaces/http/routes/proofs.ts'
import { register, submit } from '../interface/acts.ts'
import { cleanUp, svc } from '../interface/service.ts'
import { BROWSER, launch, openPage, overflowsOn, PHONE, violationsOn, closePages } from './browser.fixture.ts'
import { startEngine, type RunningEngine } from './engine.fixture.ts'

const FROM_DISK = pathToFileURL(
  fileURLToPath(new URL('../../dashboard/dist/verify.html', import.meta.url)),
).href

describe.skipIf(BROWSER === undefined)('the page that verifies proofs', () => {
  let browser: Browser
  let engine: RunningEngine
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine()])
  })
  afterAll(async () => {
    await closePages(browser)
    await cleanUp()
  })

  const choose = async (page: Page, text: string, key: string): Promise<readonly [string, string]> => {
    await page.getByLabel('Verifier key').fill(key)
    await page.locator('#result').evaluate('(result) => delete result.dataset.result')
    await page
      .getByLabel('Proof file')
      .setInputFiles({ name: 'a.tlog-proof', mimeType: 'text/plain', buffer: Buffer.from(text) })
    const result = page.locator('#result[data-result]')
    await result.waitFor()
    return [(await result.getAttribute('data-result')) ?? '', (await result.textContent()) ?? '']
  }

  it('is public, and verifies a proof of the running service without asking it', async () => {
    await register(engine, 'n1')
    const signal = await submit(engine, 'n1', { symbol: 'BTC', rationale: 'Größe | <b>ok</b>' })
    const { text } = await engine.call('GET', `/events/${signal}/proof`)
    const key = JSON.parse((await svc(engine.home, ['identity', 'show', '--json'])).stdout)
      .verifier_key as string

    const { page, problems, close } = await openPage(browser, engine.dashboardUrl)
    const response = await page.goto(`${engine.dashboardUrl}/verify`)
    expect(response?.headers()['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+'; base-uri 'none'/,
    )
    expect(await violationsOn(page)).toEqual([])
    await page.context().setOffline(true)
    const [result, shown] = await choose(page, text, key)
    expect(result).toBe('holds')
    for (const part of [signal, 'signal.curator.v1', 'n1', 'Größe | <b>ok</b>']) expect(shown).toContain(part)
    expect(await violationsOn(page)).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('works from disk, on a phone, with a file that is dropped', async () => {
    const { page, problems, close } = await openPage(browser, 'null', { viewport: PHONE })
    await page.goto(FROM_DISK)
    await page.getByLabel('Verifier key').fill(EXAMPLE_KEY)
    await page.evaluate(`
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([${JSON.stringify(PROOF)}], 'a.tlog-proof'))
      document.querySelector('#drop').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }))`)
    await page.getByText('Holds: the event is in the log').waitFor()
    expect(await overflowsOn(page)).toBe(false)
    expect(problems).toEqual([])
    await close()
  })

  it('refuses what svc verify-proof refuses', async () => {
    const { page, problems, close } = await openPage(browser, 'null')
    await page.goto(FROM_DISK)
    const otherKey = EXAMPLE_KEY.replace('svc-8', 'svc-9')
    const path = consistencyProof(3, exampleData)
    const growth = consistencyProofText({ path, older: exampleNote(3), newer: exampleNote(5) })
    const cases = [
      [PROOF, EXAMPLE_KEY, 'holds', 'event is in the log'],
      [growth, EXAMPLE_KEY, 'holds', 'nothing was changed or removed'],
      [growth.replace(/\n.{43}=/, `\n${'A'.repeat(43)}=`), EXAMPLE_KEY, 'refused', 'was rewritten'],
      [PROOF.replace('index 0', 'index 1'), EXAMPLE_KEY, 'refused', 'not number 2 of the 5'],
      [PROOF.replace('time 2026', 'time 2025'), EXAMPLE_KEY, 'refused', 'signature is not valid'],
      [PROOF.replace('extra fDIw', 'extra fDIx'), EXAMPLE_KEY, 'refused', 'not number 1 of the 5'],
      [PROOF.replace('\n9kED', '\n9kEC'), EXAMPLE_KEY, 'refused', 'not number 1 of the 5'],
      [PROOF.replaceAll('\n', '\r\n'), EXAMPLE_KEY, 'refused', 'no proof'],
      ['once upon a time', EXAMPLE_KEY, 'refused', 'no proof'],
      [PROOF, '', 'refused', 'signed by svc-8a88e3dd7409f195 (key id 0094aa35)'],
      [PROOF, 'nonsense', 'refused', 'name+hash+base64'],
      [PROOF, otherKey, 'refused', 'key is damaged'],
      [PROOF, 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW', 'refused', 'Wrong key'],
    ] as const
    for (const [text, key, result, shown] of cases)
      expect(await choose(page, text, key)).toEqual([result, expect.stringContaining(shown)])
    expect(problems).toEqual([])
    await close()
  })

  it('shows nothing of an earlier file: one of the same name, changed since, or one that cannot be read', async () => {
    const { page, problems, close } = await openPage(browser, 'null')
    await page.goto(FROM_DISK)
    await page.getByLabel('Verifier key').fill(EXAMPLE_KEY)
    const path = join(engine.home, 'same-name.tlog-proof')
    const shown = async (text: string): Promise<string | null> => {
      await writeFile(path, text)
      const chooser = page.waitForEvent('filechooser')
      await page.getByLabel('Proof file').click()
      expect(await page.locator('#result').textContent()).toBe('')
      await (await chooser).setFiles(path)
      await page.locator('#result[data-result]').waitFor()
      return page.locator('#result').getAttribute('data-result')
    }
    expect(await shown(PROOF)).toBe('holds')
    expect(await shown(PROOF.replace('index 0', 'index 1'))).toBe('refused')
    expect(await shown(PROOF)).toBe('holds')
    await page.evaluate(`take({ text: () => Promise.reject(new Error('it is gone')) })`)
    await page.getByText('could not be checked: it is gone').waitFor()
    // A file that is slow to read is overtaken by the next one, and says nothing afterwards.
    await page.evaluate(`(async (good, bad) => {
      let arrive
      take({ text: () => new Promise((resolve) => { arrive = resolve }) })
      take({ text: () => Promise.resolve(bad) })
      arrive(good)
    })(${JSON.stringify(PROOF)}, ${JSON.stringify(PROOF.replace('index 0', 'index 1'))})`)
    await page.getByText('not number 2 of the 5').waitFor()
    expect(await page.getByText('Holds').count()).toBe(0)
    expect(problems).toEqual([])
    await close()
  })

  it('does not hold with any byte of the file changed', async () => {
    const { page, close } = await openPage(browser, 'null')
    await page.goto(FROM_DISK)
    // The function of the page itself, without a file for each of a thousand changes.
    const accepted = await page.evaluate(`(async (proof, key) => {
      const held = []
      for (let at = 0; at < proof.length; at += 1) {
        const changed = proof.slice(0, at) + (proof.charAt(at) === 'A' ? 'B' : 'A') + proof.slice(at + 1)
        await verify(changed, key).then(() => held.push(at), () => undefined)
      }
      await verify(proof, key)
      return held
    })(${JSON.stringify(PROOF)}, ${JSON.stringify(EXAMPLE_KEY)})`)
    expect(accepted).toEqual([])
    await close()
  })

  it('says so where the browser lacks Ed25519, or WebCrypto altogether', async () => {
    const { page, close } = await openPage(browser, 'null')
    await page.addInitScript(
      'crypto.subtle.importKey = () => Promise.reject(new DOMException("no", "NotSupportedError"))',
    )
    await page.goto(FROM_DISK)
    expect(await choose(page, PROOF, EXAMPLE_KEY)).toEqual([
      'unsupported',
      expect.stringContaining('cannot check Ed25519 signatures'),
    ])
    await page.addInitScript('Object.defineProperty(globalThis, "crypto", { value: {} })')
    await page.reload()
    expect(await choose(page, PROOF, EXAMPLE_KEY)).toEqual([
      'unsupported',
      expect.stringContaining('no WebCrypto'),
    ])
    await close()
  })

  it('is the file that was built, byte for byte, so that it can be saved and kept', async () => {
    const served = await (await fetch(`${engine.dashboardUrl}/verify`)).text()
    const copy = join(engine.home, 'verify.html')
    await writeFile(copy, served)
    const { page, close } = await openPage(browser, 'null')
    await page.goto(pathToFileURL(copy).href)
    expect(await choose(page, PROOF, EXAMPLE_KEY)).toMatchObject(['holds', expect.any(String)])
    await close()
  })
})
