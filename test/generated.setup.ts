import fc from 'fast-check'
import { runSeed } from './generated.fixture.ts'

// Properties with a seed of their own keep it.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: runSeed() })
