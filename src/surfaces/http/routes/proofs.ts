import { z } from 'zod'
import { isPlainText } from '../../../core/shared/text.ts'
import { okText, refused } from '../results.ts'
import { EVENT_ID } from '../examples.ts'
import { pathText } from '../fields.ts'
import { route, routes } from '../route.ts'

/** Of the example event, as the first of five: see docs/proofs.md. */
export const PROOF = `c2sp.org/tlog-proof@v1
extra fDIwMjYtMDItMjBUMDA6Mjk6NTguMDAwWnwxMTExMTExMS0xMTExLTQxMTEtODExMS0xMTExMTExMTExMTF8c2lnbmFsLmN1cmF0b3IudjF8djF8b3BlcmF0b3I6dGVsZWdyYW18fHx7ImNvbnZpY3Rpb24iOjcuNSwiZGlyZWN0aW9uIjoiYnVsbGlzaCIsInJhdGlvbmFsZSI6Ikdyw7bDn2UgfCBvayIsInN5bWJvbCI6IkJUQyJ9
index 0
9kEDqlPr0TkEuREazNk5v/k+XfirlWx8pBSGp5OvdtI=
ZTKv9l/aXAktfXV7JJCEHbezvvawweMkoD1oQVjl4yM=
D5CI+hZkNYuFCyk+LVfwUClDnwtj9y8dCcYt2QATE9g=

signal-engine/events/e306ee83c5519c4bdde142d1998c196026f4448e11417f4825d42354cb3dfd7f
5
HbHxKgaE8XQnWbFurdmws3HplXvyyXaxbDNcUarXYis=
head 90dfc406abbf44f91abd301eeb82573c6f28f3df8ffca69db1bec0854ef6294c
time 2026-02-20T00:30:00.000Z
records rC8mIvLp2yIH6o610N4qomei7c8S9Vzr4XTY7zIJhaY=
frontier l42OPTBjlv0sfU1LSKrRT7neh0B899ssmacQ7aLgDj9kJMwwaRmXBXDNXdZRxJOdJL7mRgpijYX4L4iJPcKejQ==

— svc-8a88e3dd7409f195 AJSqNY8YOjpB+ZOxI28oyfVgCX26dO713k5Bp596EfQpiV7/JMX4UAcBKbd1S6KQm61VK3PTkKTnCf0rzK4bkcz2uws=
`

const PROOF_TYPE = 'text/plain'

export const proofRoutes = routes('Events', {
  proveEvent: route('GET', '/events/:id/proof', 'read', {
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
})
