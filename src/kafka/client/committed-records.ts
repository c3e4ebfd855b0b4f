/** Reads the records of fetched batches as a reader of committed data sees them. */
import type { fetchV17, KafkaRecord, RecordsBatch } from '@platformatic/kafka'
import type { Batch, LogRecord } from '../log.ts'

const TRANSACTIONAL = 0b10000
const CONTROL = 0b100000
const APPEND_TIME = 0b1000
const ABORT = 0

export function committedRecords(fetched: fetchV17.FetchResponsePartition, from: number): Batch {
  const { partitionIndex: partition, highWatermark, abortedTransactions, records: batches } = fetched
  const aborted = [...(abortedTransactions ?? [])].sort((a, b) => Number(a.firstOffset - b.firstOffset))
  const ongoing = new Set<bigint>()
  const records: LogRecord[] = []
  let next = from
  for (const batch of batches ?? []) {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta)
    for (let first = aborted[0]; first !== undefined && first.firstOffset <= last; first = aborted[0]) {
      ongoing.add(first.producerId)
      aborted.shift()
    }
    if ((batch.attributes & CONTROL) !== 0) {
      // the marker ends the transaction, and its producer may begin another one in the same portion
      if (batch.records[0]?.key?.readInt16BE(2) === ABORT) ongoing.delete(batch.producerId)
    } else if ((batch.attributes & TRANSACTIONAL) === 0 || !ongoing.has(batch.producerId)) add(records, batch, from)
    next = Math.max(next, Number(last) + 1)
  }
  return { partition, records, next, end: Number(highWatermark) }
}

function add(records: LogRecord[], batch: RecordsBatch, from: number): void {
  const first = Number(batch.firstOffset)
  const firstTime = Number(batch.firstTimestamp)
  const appended = (batch.attributes & APPEND_TIME) === 0 ? undefined : Number(batch.maxTimestamp)
  for (const record of batch.records) {
    const offset = first + record.offsetDelta
    // a batch may begin before the offset that was asked for
    if (offset >= from) records.push(recordOf(record, offset, appended ?? firstTime + Number(record.timestampDelta)))
  }
}

function recordOf({ key, value, headers }: KafkaRecord, offset: number, time: number): LogRecord {
  return {
    offset,
    time,
    key: key?.toString(),
    value: value === null ? null : value.toString(),
    headers: headers.length === 0 ? undefined : textsOf(headers),
  }
}

function textsOf(headers: KafkaRecord['headers']): Readonly<Record<string, string>> {
  const texts: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of headers) if (name !== null) texts[name.toString()] = value?.toString() ?? ''
  return texts
}
