/** Signs a thousand texts, says how many signatures it has, and ends when nothing is left to do. */
import { createEphemeralIdentity } from '../../src/adapters/platform/identity/identity.ts'
import { createSigner } from '../../src/adapters/platform/identity/signer.ts'

const signer = createSigner(createEphemeralIdentity('svc'), (error) => {
  process.stderr.write(error.message)
})
const texts = Array.from({ length: 500 }, (_, number) => `{"number":${number}}`)
const [one, other] = await Promise.all([signer.signAll(texts), signer.signAll(texts)])
process.stdout.write(String(one.length + other.length))
