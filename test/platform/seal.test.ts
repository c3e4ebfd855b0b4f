/** Secrets that are stored sealed. */
import { expect, it } from 'vitest'
import { Seal } from '../../src/platform/seal.ts'

it('opens only with its key, for its own purpose, and unmodified', () => {
  const seal = new Seal(new Uint8Array(32).fill(1))
  const closed = seal.close('ü secret', 'acme/assets/1')
  expect(seal.open(closed, 'acme/assets/1')).toBe('ü secret')
  expect(seal.close('ü secret', 'acme/assets/1')).not.toBe(closed)
  const bytes = Buffer.from(closed.slice(4), 'base64')
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  for (const open of [
    () => new Seal(new Uint8Array(32)).open(closed, 'acme/assets/1'),
    () => seal.open(closed, 'acme/assets/2'),
    () => seal.open(`enc:${bytes.toString('base64')}`, 'acme/assets/1'),
    () => seal.open('enc:', 'acme/assets/1'),
    () => seal.open(closed.slice(0, -8), 'acme/assets/1'),
  ]) {
    expect(open).toThrow(/cannot be decrypted/)
  }
})
