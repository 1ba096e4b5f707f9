import { parentPort, workerData } from 'node:worker_threads'
import { measure, type SpeedPlan } from './speeds.ts'

parentPort?.postMessage(await measure(workerData as SpeedPlan), [])
