/** Derives the keys of one connection from the cluster's secret and a nonce from each side. */
import { randomBytes } from 'node:crypto'
import type { Hops } from '../hop.ts'
import { Signer } from '../signer.ts'

export interface FrameKeys {
  readonly asking: Signer
  readonly owner: Signer
}

export function newNonce(): string {
  return randomBytes(16).toString('base64url')
}

export function isNonce(text: unknown): text is string {
  return typeof text === 'string' && /^[\w-]{22}$/.test(text)
}

export function frameKeys(hops: Hops, askingNonce: string, ownerNonce: string): FrameKeys {
  const keyOf = (end: string): Signer => new Signer(hops.keyFor(`frames of ${end}\n${askingNonce}\n${ownerNonce}`))
  return { asking: keyOf('who asks'), owner: keyOf('who answers') }
}
