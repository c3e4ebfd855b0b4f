/** Reads and writes payloads of Sparkplug B. Fields that are not used here are skipped. */
import protobuf from 'protobufjs'
import type { Json } from '#kernel'

const PAYLOAD = protobuf
  .parse(
    `
  syntax = "proto2";
  message Payload {
    message Metric {
      optional string name = 1;
      optional uint64 alias = 2;
      optional uint64 timestamp = 3;
      optional uint32 datatype = 4;
      optional bool is_historical = 5;
      optional bool is_transient = 6;
      optional bool is_null = 7;
      oneof value {
        uint32 int_value = 10;
        uint64 long_value = 11;
        float float_value = 12;
        double double_value = 13;
        bool boolean_value = 14;
        string string_value = 15;
        bytes bytes_value = 16;
      }
    }
    optional uint64 timestamp = 1;
    repeated Metric metrics = 2;
    optional uint64 seq = 3;
    optional string uuid = 4;
    optional bytes body = 5;
  }`,
    { keepCase: true },
  )
  .root.lookupType('Payload')

/** Numbers of the data types that have a value here. */
export const DATA_TYPES = {
  Int8: 1,
  Int16: 2,
  Int32: 3,
  Int64: 4,
  UInt8: 5,
  UInt16: 6,
  UInt32: 7,
  UInt64: 8,
  Float: 9,
  Double: 10,
  Boolean: 11,
  String: 12,
  DateTime: 13,
  Text: 14,
  UUID: 15,
  Bytes: 17,
  File: 18,
} as const
export type DataType = keyof typeof DATA_TYPES

const NAMES = new Map<number, DataType>(Object.entries(DATA_TYPES).map(([name, number]) => [number, name as DataType]))
const BITS: Partial<Record<DataType, number>> = { Int8: 8, Int16: 16, Int32: 32, Int64: 64 }
const LONG: ReadonlySet<DataType> = new Set(['Int64', 'UInt64', 'DateTime'])

interface RawMetric {
  readonly name?: string
  readonly alias?: string
  readonly timestamp?: string
  readonly datatype?: number
  readonly is_null?: boolean
  readonly int_value?: number
  readonly long_value?: string
  readonly float_value?: number
  readonly double_value?: number
  readonly boolean_value?: boolean
  readonly string_value?: string
  readonly bytes_value?: string
}

interface RawPayload {
  readonly timestamp?: string
  readonly seq?: string
  readonly metrics?: readonly RawMetric[]
}

export interface Metric {
  readonly name?: string | undefined
  readonly alias?: string | undefined
  /** epoch ms */
  readonly timestamp?: number | undefined
  readonly type?: DataType | undefined
  /** Returns the value as of a data type; undefined for a data type without one here. */
  valueAs(type: DataType | undefined): Json | undefined
}

export interface SparkplugPayload {
  /** epoch ms */
  readonly timestamp?: number | undefined
  readonly seq?: number | undefined
  readonly metrics: readonly Metric[]
}

/** Throws an error of the package for bytes that are not a payload. */
export function readPayload(bytes: Uint8Array): SparkplugPayload {
  const options = { longs: String, bytes: String }
  const { timestamp, seq, metrics = [] } = PAYLOAD.toObject(PAYLOAD.decode(bytes), options) as RawPayload
  return {
    timestamp: numberOf(timestamp),
    seq: numberOf(seq),
    metrics: metrics.map((metric) => ({
      name: metric.name,
      alias: metric.alias,
      timestamp: numberOf(metric.timestamp),
      type: NAMES.get(metric.datatype ?? 0),
      valueAs: (type) => valueOf(metric, type),
    })),
  }
}

export interface NewMetric {
  readonly name: string
  readonly type: DataType
  readonly value: number | bigint | boolean | string
}

/** `timestamp`: epoch ms. Throws a `TypeError` or `SyntaxError` for a value that the data type cannot have. */
export function writePayload(timestamp: number, metrics: readonly NewMetric[]): Uint8Array {
  const raw = metrics.map(({ name, type, value }) => {
    return { name, timestamp, datatype: DATA_TYPES[type], ...fieldOf(type, value) }
  })
  return PAYLOAD.encode(PAYLOAD.fromObject({ timestamp, metrics: raw })).finish()
}

function valueOf(metric: RawMetric, type: DataType | undefined): Json | undefined {
  if (metric.is_null === true) return null
  const whole = metric.long_value ?? metric.int_value
  if (whole !== undefined && type !== undefined && type !== 'Boolean') return wholeOf(BigInt(whole), type)
  const { boolean_value, float_value, double_value, string_value, bytes_value } = metric
  const number = float_value ?? double_value
  if (number !== undefined) return Number.isFinite(number) ? number : null
  return boolean_value ?? string_value ?? bytes_value
}

/** A negative number comes as two's complement. One beyond 2^53 becomes a text, which keeps its digits. */
function wholeOf(whole: bigint, type: DataType): Json {
  const bits = BITS[type]
  const value = bits === undefined ? whole : BigInt.asIntN(bits, whole)
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

function fieldOf(type: DataType, value: NewMetric['value']): object {
  if (type === 'Boolean') return { boolean_value: value === true }
  if (type === 'Float') return { float_value: Number(value) }
  if (type === 'Double') return { double_value: Number(value) }
  if (type === 'String' || type === 'Text' || type === 'UUID') return { string_value: String(value) }
  if (type === 'Bytes' || type === 'File') return { bytes_value: String(value) }
  const whole = BigInt(value)
  if (LONG.has(type)) return { long_value: String(BigInt.asUintN(64, whole)) }
  return { int_value: Number(BigInt.asUintN(32, whole)) }
}
