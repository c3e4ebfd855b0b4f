/** What threads of heavy work are sent, and what they send. */
import type { Failure } from '#kernel'

/** What a thread is started with. */
export interface WorkThreadData {
  /** The work of scripts is only counted; else they also end after a second */
  readonly onlyCounted: boolean
  /** destinations of callURL that may be private, as `--allow-url` has them */
  readonly allowUrl: readonly string[]
  /** one number, which grows with each reply: a thread that needs one at once sleeps on it */
  readonly replies: SharedArrayBuffer
}

export type ToThread =
  | { readonly kind: 'begin'; readonly run: number; readonly name: string; readonly input: unknown }
  /** the answer is not wanted any more */
  | { readonly kind: 'abort'; readonly run: number }
  | { readonly kind: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly failure: Failure }

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly value: unknown; readonly cpuMs: number }
  | { readonly kind: 'failure'; readonly failure: Failure; readonly cpuMs: number }
  | { readonly kind: 'ask'; readonly run: number; readonly id: number; readonly asked: ServiceRequest }
  /** the thread does not want that reply any more */
  | { readonly kind: 'abandon'; readonly id: number }

/** A call of a service of the thread that sent the work. */
export interface ServiceRequest {
  readonly port: string
  readonly method: string
  readonly args: readonly unknown[]
  /** the thread sleeps until the reply, which therefore must not wait */
  readonly atOnce: boolean
}

/** Buffers that move to the other thread instead of being copied: those of bytes that have one to themselves. */
export function ownBuffers(...values: readonly unknown[]): ArrayBuffer[] {
  return values.flatMap((value) => {
    if (!(value instanceof Uint8Array) || !(value.buffer instanceof ArrayBuffer)) return []
    return value.byteLength === value.buffer.byteLength ? [value.buffer] : []
  })
}
