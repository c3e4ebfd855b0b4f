import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PacketFrames } from '../../../../src/services/broker/mqtt/packet-frames.ts'

/** Builds a PUBLISH packet with `size` bytes after its length. */
function packet(size: number): Buffer {
  const length: number[] = []
  for (let rest = size; length.length === 0 || rest > 0; rest >>= 7)
    length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
  return Buffer.concat([Buffer.from([0x30, ...length]), Buffer.alloc(size, 0xee)])
}

function takeAll(frames: PacketFrames): (Buffer | string)[] {
  const all: (Buffer | string)[] = []
  for (let next = frames.next(); next !== undefined; next = frames.next()) {
    all.push(next)
    if (typeof next === 'string') break
  }
  return all
}

describe('packets', () => {
  it('are unchanged when sent in any pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(300), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 200 })),
        (sizes, cuts) => {
          const packets = sizes.map(packet)
          const stream = Buffer.concat(packets)
          const frames = new PacketFrames(1000)
          const seen: (Buffer | string)[] = []
          let at = 0
          for (const cut of [...cuts, stream.length]) {
            frames.add(stream.subarray(at, at + cut))
            at += cut
            seen.push(...takeAll(frames))
          }
          expect(seen).toEqual(packets)
        },
      ),
    )
  })

  it('may be as large as the limit, their head counted', () => {
    for (const [limit, expected] of [[203, packet(200)] as const, [202, 'tooLarge'] as const]) {
      const frames = new PacketFrames(limit)
      frames.add(packet(200))
      expect(frames.next()).toEqual(expected)
    }
  })

  it.each([
    ['a length without an end', [0x30, 0x80, 0x80, 0x80, 0x80, 0]],
    ['a type that there is none', [0x00]],
    ['flags that its type does not have', [0x80]],
    ['another protocol', [...Buffer.from('GET /')]],
  ])('are not what begins with %s', (_what, bytes) => {
    const frames = new PacketFrames(1000)
    frames.add(Buffer.from(bytes))
    expect(frames.next()).toBe('malformed')
  })
})
