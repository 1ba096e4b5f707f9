import { z } from 'zod'
import { isPlainText } from '../../../core/shared/text.ts'
import { okText, refused } from '../results.ts'
import { EVENT_ID, PROOF } from '../examples.ts'
import { pathText } from '../fields.ts'
import { defineRoute } from '../route.ts'

const PROOF_TYPE = 'text/plain'

export const proofRoutes = [
  defineRoute({
    method: 'GET',
    path: '/events/:id/proof',
    operationId: 'proveEvent',
    tag: 'Events',
    summary: 'A proof that the event is in the log, for those who know only the public key',
    description:
      'A file of the format `c2sp.org/tlog-proof@v1`: the content of the event, the path to the root of the tree over ' +
      'all events, and the signed checkpoint with that root. If no checkpoint covers the event yet, one is signed. ' +
      '`svc verify-proof` and the page `/verify` of the dashboard check it offline.',
    params: z.object({ id: pathText('the id of the event', EVENT_ID) }),
    response: z.string(),
    responseType: PROOF_TYPE,
    example: PROOF,
    problems: ['event.not_found', 'proof.unavailable'],
    handler: async ({ params: { id } }, { engine: { log }, prove }) => {
      // What cannot be an id is not looked for.
      const record = isPlainText(id) ? await log.get(id) : null
      if (record === null)
        return refused('event.not_found', 'No event has this id', { extras: { event_id: id } })
      const proof = await prove(record)
      return proof.status === 'proved'
        ? okText(proof.text, `${PROOF_TYPE}; charset=utf-8`)
        : refused('proof.unavailable', proof.detail, { extras: { event_id: id } })
    },
  }),
]
