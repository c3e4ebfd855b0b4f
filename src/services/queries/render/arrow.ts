/** Streams rows as Apache Arrow: timestamps, and one nullable column per series. */
import type * as ArrowPackage from 'apache-arrow'
import type { Data, DataType, RecordBatchStreamWriter } from 'apache-arrow'
import { AppError } from '#kernel'
import type { CellColumn, RowBatch } from '../execution/row-batch.ts'
import type { Cell } from '../interpolation/fill.ts'

type Arrow = typeof ArrowPackage

const MISSING = 'results as Arrow require the package apache-arrow, which this host lacks: npm install apache-arrow@21'

/** A column has the type of its first value (without one: numeric); later values of other types become null. */
export async function* arrowParts(
  headers: readonly string[],
  batches: AsyncIterable<RowBatch>,
): AsyncGenerator<Uint8Array> {
  const arrow = await load()
  let stream: Stream | undefined
  for await (const batch of batches) {
    stream ??= new Stream(arrow, headers, batch)
    yield stream.write(batch)
  }
  stream ??= new Stream(arrow, headers, { times: new Float64Array(), cells: [] })
  yield stream.end()
}

async function load(): Promise<Arrow> {
  try {
    return await import('apache-arrow')
  } catch (error) {
    throw new AppError('CLOSED', MISSING, { cause: error })
  }
}

type Kind = 'number' | 'string' | 'boolean'

class Stream {
  readonly #arrow: Arrow
  readonly #kinds: readonly Kind[]
  readonly #schema: InstanceType<Arrow['Schema']>
  readonly #writer: RecordBatchStreamWriter
  readonly #parts: Uint8Array[] = []

  constructor(arrow: Arrow, headers: readonly string[], first: RowBatch) {
    this.#arrow = arrow
    this.#kinds = headers.map((_, i) => kindOf(first.cells[i] ?? []))
    const time = new arrow.Field('timestamp', new arrow.TimestampMillisecond('UTC'), false)
    const fields = headers.map((header, i) => new arrow.Field(header, this.#typeOf(this.#kinds[i]), true))
    this.#schema = new arrow.Schema([time, ...fields])
    this.#writer = new arrow.RecordBatchStreamWriter()
    const parts = this.#parts
    // the package's queue would wait for a reader, so take each batch as soon as it is written
    class Taken extends arrow.AsyncByteQueue {
      override write(part: ArrayBufferLike | ArrayBufferView): void {
        parts.push(bytesOf(part))
      }
    }
    this.#writer.reset(new Taken(), this.#schema)
  }

  write(batch: RowBatch): Uint8Array {
    const { makeData, Struct, RecordBatch, TimestampMillisecond } = this.#arrow
    const length = batch.times.length
    const times = makeData({
      type: new TimestampMillisecond('UTC'),
      length,
      nullCount: 0,
      data: BigInt64Array.from(batch.times, BigInt),
    })
    const cells = this.#kinds.map((kind, i) => this.#data(kind, batch.cells[i] ?? []))
    const children: Data[] = [times, ...cells]
    const data = makeData({ type: new Struct(this.#schema.fields), length, nullCount: 0, children })
    this.#writer.write(new RecordBatch(this.#schema, data))
    return this.#taken()
  }

  end(): Uint8Array {
    this.#writer.finish()
    return this.#taken()
  }

  #taken(): Uint8Array {
    return Buffer.concat(this.#parts.splice(0))
  }

  #typeOf(kind: Kind | undefined): DataType {
    const { Bool, Float64, Utf8 } = this.#arrow
    return kind === 'string' ? new Utf8() : kind === 'boolean' ? new Bool() : new Float64()
  }

  #data(kind: Kind, cells: CellColumn): Data {
    if (cells instanceof Float64Array && kind === 'number') {
      const { makeData, Float64 } = this.#arrow
      return makeData({ type: new Float64(), length: cells.length, nullCount: 0, data: cells })
    }
    const fitting = Array.from<Cell, Cell>(cells, (cell) => (typeof cell === kind ? cell : null))
    const vector = this.#arrow.vectorFromArray(fitting, this.#typeOf(kind))
    const [data] = vector.data
    if (data === undefined) throw new Error('a column of Arrow has no data')
    return data
  }
}

function bytesOf(part: ArrayBufferLike | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(part) ? new Uint8Array(part.buffer, part.byteOffset, part.byteLength) : new Uint8Array(part)
}

function kindOf(cells: CellColumn): Kind {
  if (cells instanceof Float64Array) return 'number'
  const first = cells.find((cell) => cell !== null)
  return typeof first === 'string' || typeof first === 'boolean' ? (typeof first as Kind) : 'number'
}
