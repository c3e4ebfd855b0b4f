import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  BatchReader,
  BatchWriter,
  frameSize,
  MAX_BATCH,
  type Frame,
  type ReadFrame,
} from '../../../../src/host/cluster/frames/frame-batch.ts'
import { Signer } from '../../../../src/host/cluster/signer.ts'

const signer = new Signer(Buffer.from('the key of one connection'))
const anyFrame: fc.Arbitrary<Frame> = fc.record({
  kind: fc.nat(255),
  number: fc.nat(0xff_ff_ff_ff),
  head: fc.string({ unit: 'grapheme' }),
  body: fc.oneof(fc.uint8Array(), fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)) })),
})

function written(batches: readonly (readonly Frame[])[], writer = new BatchWriter(signer)): Buffer {
  return Buffer.concat(
    batches.map((frames) =>
      writer.write(
        frames,
        frames.reduce((size, frame) => size + frameSize(frame), 0),
      ),
    ),
  )
}

function plain({ kind, number, head, body }: Frame): unknown {
  return { kind, number, head, body: Buffer.from(body as string, 'latin1').toString('hex') }
}

// Holds FRAMEBATCH-1
it('FRAMEBATCH-1: frames are read as they were written, wherever their bytes are split', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(anyFrame, { maxLength: 4 }), { maxLength: 4 }),
      fc.array(fc.nat()),
      (batches, cuts) => {
        const bytes = written(batches)
        const places = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b)
        const reader = new BatchReader(signer)
        const found: ReadFrame[] = []
        for (const [at, place] of [...places, bytes.length].entries())
          found.push(...reader.read(bytes.subarray(places[at - 1] ?? 0, place)))
        expect(found.map(plain)).toEqual(batches.flat().map(plain))
      },
    ),
  )
})

// Holds FRAMEBATCH-2
it('FRAMEBATCH-2: no byte of a batch can be another', () => {
  const frame = fc.array(anyFrame, { minLength: 1, maxLength: 2 })
  fc.assert(
    fc.property(frame, fc.nat(), fc.integer({ min: 1, max: 255 }), (frames, place, change) => {
      const bytes = written([frames])
      const at = place % bytes.length
      bytes.writeUInt8(bytes.readUInt8(at) ^ change, at)
      const reader = new BatchReader(signer)
      // for a longer length, the reader waits for more bytes; the signature fails too
      expect(() => expect(reader.read(Buffer.concat([bytes, Buffer.alloc(MAX_BATCH + 20)]))).toEqual([])).toThrow(
        /not signed by a host|more than 1048576/,
      )
    }),
  )
})

// Holds FRAMEBATCH-2
it.each<[string, (batches: readonly Buffer[]) => readonly (Buffer | undefined)[]]>([
  ['occurs twice', ([first]) => [first, first]],
  ['is missing', ([, second]) => [second]],
  ['is of another key', () => [written([[]], new BatchWriter(new Signer(Buffer.from('another'))))]],
])('FRAMEBATCH-2: a batch that %s is rejected', (_, sent) => {
  const writer = new BatchWriter(signer)
  const batches = [written([[]], writer), written([[]], writer)]
  const reader = new BatchReader(signer)
  expect(() => {
    for (const batch of sent(batches)) reader.read(batch ?? Buffer.alloc(0))
  }).toThrow('a batch of frames is not signed by a host of the cluster for this place')
})

// Holds FRAMEBATCH-2
it.each([
  ['the head of a frame is incomplete', Buffer.alloc(12)],
  ['a frame ends behind its batch', Buffer.from('00000100010000000000000000', 'hex')],
  ['a frame ends behind its batch', Buffer.from('00000009010000000000000001', 'hex')],
])('FRAMEBATCH-2: %s', (sentence, frames) => {
  const head = Buffer.alloc(20)
  head.writeUInt32BE(frames.length)
  signer.sign(Buffer.alloc(8), frames).copy(head, 4, 0, 16)
  expect(() => new BatchReader(signer).read(Buffer.concat([head, frames]))).toThrow(sentence)
})

// Holds FRAMEBATCH-3
it('FRAMEBATCH-3: a batch that would be too long is rejected by its head', () => {
  const head = Buffer.alloc(20)
  head.writeUInt32BE(MAX_BATCH + 1)
  expect(() => new BatchReader(signer).read(head)).toThrow('more than 1048576')
})
