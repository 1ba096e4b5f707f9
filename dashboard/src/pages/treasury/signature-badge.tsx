import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { queries } from '../../api/queries.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { keysFrom } from '../../proof/ed25519.ts'
import { verify, type Signed, type Verdict } from './signatures.ts'

const STARTS_MAX = 500

/** The public key of a node; undefined while it is not known. */
export const usePublicKey = (
  nodeId: string,
): { readonly key: string | undefined; readonly isKnown: boolean } => {
  const { data } = useQuery(queries.events({ type: 'system.started', limit: STARTS_MAX }))
  return {
    key: data === undefined ? undefined : keysFrom(data.items).get(nodeId),
    isKnown: data !== undefined,
  }
}

const useVerdict = (signed: Signed): Verdict => {
  const { key, isKnown } = usePublicKey(signed.node_id)
  const [verdict, setVerdict] = useState<Verdict>('checking')
  useEffect(() => {
    let isCurrent = true
    if (!isKnown) return
    verify(signed, key).then(
      (found) => {
        if (isCurrent) setVerdict(found)
      },
      // The browser's cryptography failed: that says nothing about the signature.
      () => {
        if (isCurrent) setVerdict('unsupported')
      },
    )
    return () => {
      isCurrent = false
    }
  }, [signed, key, isKnown])
  return verdict
}

const WORDS: Readonly<Record<Verdict, readonly [tone: Tone, text: string, title: string]>> = {
  checking: ['neutral', 'checking …', 'The browser checks the signature'],
  valid: ['good', 'signature valid', 'Checked in this browser with the public key of the node'],
  invalid: ['bad', 'signature wrong', 'The content is not what was signed'],
  'unknown-key': ['warn', 'key not known', 'No start of this node is in the log'],
  unsupported: [
    'warn',
    'check by command',
    'This browser cannot check Ed25519 here; the details have a command',
  ],
}

export const SignatureBadge = ({ signed }: { readonly signed: Signed }) => {
  const [tone, text, title] = WORDS[useVerdict(signed)]
  return (
    <Badge tone={tone} title={title}>
      {text}
    </Badge>
  )
}
