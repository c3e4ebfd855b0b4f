/** Payloads of Sparkplug B by a schema of its own, as an edge node writes and reads them. */
import protobuf from 'protobufjs'

const PAYLOAD = protobuf
  .parse(
    `syntax = "proto2";
  message Metric {
    optional string name = 1; optional uint64 alias = 2; optional uint64 timestamp = 3; optional uint32 datatype = 4;
    optional bool is_historical = 5; optional bool is_null = 7; optional bytes metadata = 8;
    optional uint32 int_value = 10; optional uint64 long_value = 11; optional float float_value = 12;
    optional double double_value = 13; optional bool boolean_value = 14; optional string string_value = 15;
    optional bytes bytes_value = 16; optional bytes dataset_value = 17;
  }
  message Payload {
    optional uint64 timestamp = 1; repeated Metric metrics = 2; optional uint64 seq = 3; optional string uuid = 4;
  }`,
    { keepCase: true },
  )
  .root.lookupType('Payload')

export interface WireMetric {
  readonly name?: string
  readonly alias?: number
  readonly timestamp?: number
  readonly datatype?: number
  readonly is_null?: boolean
  readonly int_value?: number
  readonly long_value?: number | string
  readonly float_value?: number
  readonly double_value?: number
  readonly boolean_value?: boolean
  readonly string_value?: string
  readonly dataset_value?: string
}

export interface WirePayload {
  readonly timestamp?: number
  readonly seq?: number
  readonly metrics?: readonly WireMetric[]
}

export function written(payload: WirePayload): Buffer {
  return Buffer.from(PAYLOAD.encode(PAYLOAD.fromObject(payload)).finish())
}

export function read(bytes: Uint8Array): WirePayload {
  return PAYLOAD.toObject(PAYLOAD.decode(bytes), { longs: Number })
}

/** The metric with which a node states which of its connections a birth or death belongs to. */
export const bdSeq = (number: number): WireMetric => ({ name: 'bdSeq', datatype: 4, long_value: number })
