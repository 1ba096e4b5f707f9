import { availableParallelism } from 'node:os'
import { numberFrom } from '../arguments.ts'
import type { DefineCommand, Invocation } from '../command.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Works on the backtests and sweeps that a service with a store in PostgreSQL is asked for, beside as many other ' +
        'workers as there are, until it is stopped. Recorded bars are read from the home of the worker, and must be ' +
        'those of the service. What a worker that dies was working on is taken up by another.',
    )
    .option('--workers <count>', 'runs at once (default: one per core)', numberFrom(1, 256))
    .examples('SVC_STORE__URL=postgres://svc@db/signals svc worker')
    .runs(runWorker)
}

const runWorker = async (
  { startWorker, print }: Invocation,
  { workers = availableParallelism() }: { readonly workers?: number },
): Promise<void> => {
  const { stopped } = await startWorker({
    width: workers,
    onError: (message) => {
      process.stderr.write(`${new Date().toISOString()} ${message}\n`)
    },
  })
  await print.result({ status: 'working', workers }, `working, ${workers} runs at once; Ctrl-C stops\n`)
  await stopped
}
