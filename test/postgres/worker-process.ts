import { createCommandDependencies } from '../../src/compose/command-dependencies.ts'
import { environmentOf } from '../../src/compose/environment.ts'

/** A worker in a process of its own, as `svc worker` starts it. It says when it works, and what it cannot do. */
const [home, url, version] = process.argv.slice(2)
if (home === undefined || url === undefined || version === undefined) {
  throw new Error('needs a home, the address of the database and a version')
}
const environment = environmentOf(home, { SVC_STORE__URL: url }, version)
const { stopped } = await createCommandDependencies(environment).startWorker({
  width: 1,
  onError: (message) => {
    process.send?.(message)
  },
})
process.send?.('working')
await stopped
process.disconnect?.()
