/** Defines the messages to and from threads of heavy work. */
import type { Failure } from '#kernel'

export interface WorkThreadData {
  /** Whether scripts are limited only by the count of their steps, not by a second of time */
  readonly onlyCounted: boolean
  /** Private destinations that callURL may reach, as in `--allow-url` */
  readonly allowUrl: readonly string[]
  readonly replies: SharedArrayBuffer
}

export type ToThread =
  | { readonly kind: 'begin'; readonly run: number; readonly name: string; readonly input: unknown }
  | { readonly kind: 'abort'; readonly run: number }
  | { readonly kind: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly failure: Failure }

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly value: unknown; readonly cpuMs: number }
  | { readonly kind: 'failure'; readonly failure: Failure; readonly cpuMs: number }
  | { readonly kind: 'ask'; readonly run: number; readonly id: number; readonly asked: ServiceRequest }
  | { readonly kind: 'abandon'; readonly id: number }

/** Call to a service of the sending thread. */
export interface ServiceRequest {
  readonly port: string
  readonly method: string
  readonly args: readonly unknown[]
  /** Whether the thread blocks until the reply, so that the reply must not wait */
  readonly atOnce: boolean
}

/** Returns the buffers to transfer instead of copying: those used by a single byte array. */
export function ownBuffers(...values: readonly unknown[]): ArrayBuffer[] {
  return values.flatMap((value) => {
    if (!(value instanceof Uint8Array) || !(value.buffer instanceof ArrayBuffer)) return []
    return value.byteLength === value.buffer.byteLength ? [value.buffer] : []
  })
}
