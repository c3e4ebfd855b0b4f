/** Reads kept inputs from segments, and from the log where it is ahead of them. */
import type { InputRange, KeptInput, KeptInputs, KeptSource, KeptView } from './contract.ts'
import type { SegmentRow } from './manifest.ts'
import { type RowFilter, SegmentReader } from './segment-reader.ts'
import { selectInput } from './select-input.ts'

const PAGE = 1_000
const BATCH = 2_000

export class KeptReader implements Pick<KeptInputs, 'read'> {
  readonly segments: SegmentReader
  readonly #source: KeptSource

  constructor(source: KeptSource) {
    this.#source = source
    this.segments = new SegmentReader(source)
  }

  async *read(range: InputRange, signal?: AbortSignal): AsyncGenerator<readonly KeptInput[], undefined> {
    const source = this.#source
    await source.open()
    try {
      let view = await source.view()
      const end = Math.min(range.upTo ?? Number.POSITIVE_INFINITY, view.position)
      for (let after = range.after ?? 0; after < end; view = await source.view()) {
        signal?.throwIfAborted()
        const from = Math.max(after, view.manifest.since.position - 1)
        if (from >= end) return
        const part = { ...range, after: from, upTo: end }
        const segment = view.manifest.inputs.find(({ last }) => last > from)
        if (segment === undefined) {
          const { inputs, first, last = end } = await source.logged(from, Math.min(PAGE, end - from))
          // trimmed in the meantime: a segment now contains the entries
          const isTrimmed = first !== from + 1 && (await source.view()).manifest.position > view.manifest.position
          if (!isTrimmed) yield selected(inputs, part)
          after = isTrimmed ? from : last
          continue
        }
        const inputs = isOutside(segment, range) ? [] : await this.segments.inputs(segment, part, filterOf(view))
        for (let i = 0; i < inputs.length; i += BATCH) {
          signal?.throwIfAborted()
          yield selected(inputs.slice(i, i + BATCH), part)
        }
        after = Math.min(segment.last, end)
      }
    } finally {
      await source.close()
    }
  }
}

export function filterOf({ manifest, now }: KeptView): RowFilter {
  if (manifest.deleted.length === 0) return { now, isDeleted: () => false }
  const upTo = new Map(manifest.deleted)
  return { now, isDeleted: (resource, position) => position <= (upTo.get(resource) ?? 0) }
}

function selected(inputs: readonly KeptInput[], range: InputRange): readonly KeptInput[] {
  const found: KeptInput[] = []
  for (const kept of inputs) {
    const input = selectInput(kept, range)
    if (input !== undefined) found.push(input)
  }
  return found
}

function isOutside(segment: SegmentRow, { from, until }: InputRange): boolean {
  return segment.until < (from ?? Number.NEGATIVE_INFINITY) || segment.from > (until ?? Number.POSITIVE_INFINITY)
}
