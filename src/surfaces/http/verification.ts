import type { IntegrityReport } from '../../engine/integrity/report.ts'
import type { VerifyProgress } from '../../engine/integrity/verify.ts'
import type { IntegrityCheck, IntegrityRequest } from './dependencies.ts'

/** Runs verifications, each kind once at a time: a request meanwhile joins the one under way. */
export class Verification {
  readonly #check: IntegrityCheck
  readonly #underWay = new Map<string, Promise<IntegrityReport>>()
  #chainOk: boolean
  #fullProgress: VerifyProgress | null = null

  constructor(check: IntegrityCheck, chainOkAtStart: boolean) {
    this.#check = check
    this.#chainOk = chainOkAtStart
  }

  /** The result of the newest finished verification. */
  get chainOk(): boolean {
    return this.#chainOk
  }

  /** Progress of a full verification; null while none runs. */
  get fullProgress(): VerifyProgress | null {
    return this.#fullProgress
  }

  verify(request: IntegrityRequest): Promise<IntegrityReport> {
    const kind = request.mode === 'full' ? 'full' : `fast:${request.n}`
    const running = this.#underWay.get(kind)
    if (running !== undefined) return running
    const started = this.#run(request).finally(() => this.#underWay.delete(kind))
    this.#underWay.set(kind, started)
    return started
  }

  async #run(request: IntegrityRequest): Promise<IntegrityReport> {
    const found = await (request.mode === 'full' ? this.#verifyAll(request) : this.#check.verify(request))
    // A check of the newest events says nothing about older ones.
    if (!found.ok || found.mode === 'full') this.#chainOk = found.ok
    return found
  }

  async #verifyAll(request: IntegrityRequest): Promise<IntegrityReport> {
    this.#fullProgress = { step: 'hashes', checked: 0, total: 0 }
    try {
      return await this.#check.verify(request, (progress) => {
        this.#fullProgress = progress
      })
    } finally {
      this.#fullProgress = null
    }
  }
}
