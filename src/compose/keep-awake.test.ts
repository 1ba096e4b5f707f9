import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

const run = (work: string) => {
  const code = `
    import { setTimeout as sleep } from 'node:timers/promises'
    import { keepAwake } from ${JSON.stringify(new URL('./keep-awake.ts', import.meta.url).href)}
    const work = () => sleep(20, 'done', { ref: false })
    process.stdout.write(await ${work})`
  return spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    encoding: 'utf8',
    timeout: 25_000,
  })
}

it('lets no process end before its work, and none stay after it', () => {
  expect(run('work()')).toMatchObject({ status: 13, stdout: '' })
  expect(run('keepAwake(work)')).toMatchObject({ status: 0, stdout: 'done', stderr: '' })
})

it('hands on what went wrong', () => {
  const child = run(`keepAwake(() => Promise.reject(new Error('no'))).catch(({ message }) => message)`)
  expect(child).toMatchObject({ status: 0, stdout: 'no', stderr: '' })
})
