import { z } from 'zod'
import { okText, refused } from '../results.ts'
import { EVENT_ID } from '../examples.ts'
import { optionalInteger, pathText } from '../fields.ts'
import { route, routes } from '../route.ts'
import { findEvent, unknownEvent } from './events.ts'

/** Proof of the example event as the first of five: see docs/proofs.md. */
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

/** Proof between two checkpoints of one log. */
const CONSISTENCY_PROOF = `signal-engine/consistency-proof@v1
KdctgOtEmJYNY1uBukAloJWfIGDbQoKdoC6GpvfIN0I=
wdzU4TeWmpu97caCW5zbMKn4roXZTDcCgMmtKNDFpMo=
GieoI55APWgv2k9HrNjdaX4VFWKWO7OLCFxM+b68Ejo=
qpq0kP0S5UEeG+txnWH6T/oR0oz2s+eiDyIKrIsRm3s=

signal-engine/events/f652f7122d056c549aefb1b6ae23cd7ce6403b4f2330d228a182a96a1c09435d
5
A69ExpApdpOC2a7t/qMMM42o0paCnfvm1k/yCobBhHk=
head 455af82d19db7f5601c8e28c424b3c362264c95909841cac921863919c89c9c2
time 2026-02-20T00:30:00.000Z
records dWOzItyA27151R5z8MKYO24mRzg6PIg6ufj0yDZFWz4=
frontier OyspJhOQveBq347/g7Y5Oyscbuz+GKl0ZCsoIyJS9OTj2HXIFw7LN+T8Go2NHBeHLoop7JfdFaOE8JDUbqlTvQ==

— svc-8a88e3dd7409f195 AJSqNcaKK3Uy0eSUixMawsziTV7OKy5zqLE24U6NvREN/puz9JkcRl2i/tGj5evFepUITib0LuwP9lPMBq4je6TW9A8=

signal-engine/events/f652f7122d056c549aefb1b6ae23cd7ce6403b4f2330d228a182a96a1c09435d
8
F0HfJVSgQAqd/u4w+cv2wXcJnUXszInRpQRMlvQGfDQ=
head df226166ad2e7ce16fae0cac9c52efc7bc4003f3e205df749d14cc5b56f45484
time 2026-02-20T00:30:00.000Z
records RPxfnxdeSSCMFGRRXqZQXMh9IcSvl/HdjTjlhDodOBE=
frontier RPxfnxdeSSCMFGRRXqZQXMh9IcSvl/HdjTjlhDodOBE=

— svc-8a88e3dd7409f195 AJSqNbf5tuUeTkorwmTwuYz58jKSlYFlGR2SUYeykiwVDiayKggKsX83XiFjzg0aQq9PBnyo46w1SNw30jp5oFuO+g8=
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
    handler: async ({ params: { id } }, { engine: { storedLog: log }, prove }) => {
      const record = await findEvent(log, id)
      if (record === null) return unknownEvent(id)
      const proof = await prove(record)
      return proof.status === 'proved'
        ? okText(proof.text, `${PROOF_TYPE}; charset=utf-8`)
        : refused('proof.unavailable', proof.detail, { extras: { event_id: id } })
    },
  }),
  proveConsistency: route('GET', '/proofs/consistency', 'read', {
    summary: 'A proof that a later checkpoint only adds events to an earlier one',
    description:
      'Both signed checkpoints, and the path that leads from the root of one to the root of the other (RFC 6962). They ' +
      'are named by their sizes; one that the service does not keep any more can be named to `svc prove --from` by a ' +
      'file that holds it. `svc verify-proof` and the page `/verify` of the dashboard check it offline.',
    query: z.object({
      from: optionalInteger(
        { min: 1 },
        'size of the earlier checkpoint, in events; the oldest kept one by default',
      ),
      to: optionalInteger({ min: 1 }, 'size of the later checkpoint; the newest by default'),
    }),
    response: z.string(),
    responseType: PROOF_TYPE,
    example: CONSISTENCY_PROOF,
    problems: ['checkpoint.not_found', 'proof.unavailable'],
    handler: async ({ query: { from = null, to = null } }, { proveGrowth }) => {
      const proof = await proveGrowth(from, to)
      switch (proof.status) {
        case 'proved':
          return okText(proof.text, `${PROOF_TYPE}; charset=utf-8`)
        case 'unavailable':
          return refused('proof.unavailable', proof.detail)
        case 'not-kept': {
          const { size, kept } = proof
          const detail = size === null ? 'There is no checkpoint yet' : 'No checkpoint of this size is kept'
          return refused('checkpoint.not_found', detail, { extras: { size, kept: [...kept] } })
        }
      }
    },
  }),
})
