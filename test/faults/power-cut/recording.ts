/** What a process did to the files of a folder, as `record-disk.c` wrote it down. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type DiskStep =
  | { readonly kind: 'create'; readonly path: string; readonly file: string }
  | { readonly kind: 'write'; readonly file: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  | { readonly kind: 'sync'; readonly file: string }
  /** of the names in a folder */
  | { readonly kind: 'syncFolder'; readonly path: string }
  | { readonly kind: 'rename' | 'link'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove' | 'mkdir'; readonly path: string }

/** `end`: where the record ends, by which a step is compared with the length of the recording at some moment. */
export interface RecordedStep {
  readonly step: DiskStep
  readonly end: number
}

/** The library, compiled into a folder; undefined where the machine has no compiler, or no `LD_PRELOAD`. */
export function compiledRecorder(folder: string): string | undefined {
  if (process.platform !== 'linux') return undefined
  const library = join(folder, 'record-disk.so')
  const source = join(import.meta.dirname, 'record-disk.c')
  const made = spawnSync('gcc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-lpthread'])
  if (made.error !== undefined) return undefined
  if (made.status !== 0) throw new Error(`record-disk.c cannot be compiled: ${made.stderr.toString()}`)
  return library
}

export function* readRecording(file: string): Generator<RecordedStep> {
  const all = readFileSync(file)
  for (let at = 0; at < all.length;) {
    const kind = String.fromCharCode(all[at] ?? 0)
    const [id, first] = [all.readBigUInt64LE(at + 1).toString(), Number(all.readBigUInt64LE(at + 9))]
    const length = all.readUInt32LE(at + 25)
    const one = all.subarray(at + 29, at + 29 + length)
    const second = all.readUInt32LE(at + 29 + length)
    const two = all.subarray(at + 33 + length, at + 33 + length + second)
    at += 33 + length + second
    yield { step: stepOf(kind, { file: id, number: first, one, two: two.toString() }), end: at }
  }
}

function stepOf(
  kind: string,
  {
    file,
    number,
    one,
    two,
  }: { readonly file: string; readonly number: number; readonly one: Buffer; readonly two: string },
): DiskStep {
  switch (kind) {
    case 'C':
      return { kind: 'create', path: one.toString(), file }
    case 'W':
      return { kind: 'write', file, offset: number, bytes: one }
    case 'T':
      return { kind: 'truncate', file, size: number }
    case 'S':
      return { kind: 'sync', file }
    case 'F':
      return { kind: 'syncFolder', path: one.toString() }
    case 'R':
      return { kind: 'rename', from: one.toString(), to: two }
    case 'L':
      return { kind: 'link', from: one.toString(), to: two }
    case 'U':
      return { kind: 'remove', path: one.toString() }
    case 'M':
      return { kind: 'mkdir', path: one.toString() }
    default:
      throw new Error(`the recording has a step of an unknown kind: ${kind}`)
  }
}
