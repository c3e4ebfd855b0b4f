/**
 * Keeps the inputs of one tenant: writes log entries to segments, up to an age and a size, and reads them back.
 *
 * Segments are immutable blobs, which the manifest lists; blobs that it does not list are deleted on opening.
 *
 * KEEPER-1 an entry is trimmed from the log only when a durable manifest covers it (INPUTS-2)
 * KEEPER-2 a reader sees the segments of one manifest throughout: blobs are deleted once their last reader has left
 * KEEPER-3 whatever fails is retried in the next round, without affecting posts or tasks
 */
import { AppError, type Logger, messageOf, RateLimitedLogger, Yielder } from '#kernel'
import { KEPT_MARK_ID, MARKS, type TenantLog } from '#log'
import { machineTimers } from '#platform'
import type { LogEntry, Store } from '#storage'
import { type CheckpointSource, CheckpointWriter, readCheckpoint } from './checkpoint-rows.ts'
import type {
  InputCheckpoint,
  InputRange,
  KeptInput,
  KeptInputs,
  KeptSince,
  KeptSource,
  KeptView,
  LoggedInputs,
} from './contract.ts'
import { filterOf, KeptReader } from './kept-reader.ts'
import { KEPT_INPUTS, type Manifest, MANIFEST_ID, type SegmentRow } from './manifest.ts'
import { loggedInput } from './logged-input.ts'
import { bytesOf, type RowFilter } from './segment-reader.ts'
import { keyOfResource, type NewInput, SegmentWriter } from './segment-writer.ts'
import { selectMessages } from './select-input.ts'

/** Limits for kept inputs; beyond a limit, the oldest inputs are dropped first. */
export interface KeepLimits {
  /** ms */
  readonly ageMs: number
  /** bytes per tenant, including checkpoints */
  readonly bytes: number
  /** ms between two rounds of checkpoints; default: one hour */
  readonly checkpointMs?: number
}

/** Folder of the contents among the objects of a tenant */
const FOLDER = 'inputs/0/'

export interface KeeperOptions {
  readonly store: Store
  readonly log: TenantLog
  readonly limits: KeepLimits
  /** Returns an age in ms that also applies; undefined: none */
  readonly age?: (() => number | undefined) | undefined
  /** epoch ms */
  readonly now: () => number
  readonly tasks?: CheckpointSource
  readonly logger?: Pick<Logger, 'warn'> | undefined
  readonly sizes?: Partial<SegmentSizes>
}

export interface SegmentSizes {
  readonly entries: number
  readonly characters: number
  /** ms after which a segment is written even with fewer entries */
  readonly restMs: number
}

export interface KeptFigures {
  readonly bytes: number
  readonly messages: number
  /** epoch ms of the oldest input; undefined: no inputs are kept */
  readonly oldest: number | undefined
}

const HOUR = 3_600_000
export const SEGMENT_SIZES: SegmentSizes = { entries: 65_536, characters: 33_554_432, restMs: HOUR }
/** ms between two rounds */
const ROUND_MS = 5_000
const PAGE = 1_000
/** number of latest entries whose length is measured in each round */
const MEASURED = 8
/** number of deleted resources that causes a purge before the hourly one */
const MAX_DELETED = 500

export class InputKeeper implements KeptInputs, KeptSource {
  readonly #options: KeeperOptions
  readonly #sizes: SegmentSizes
  readonly #folder: string
  readonly #reader = new KeptReader(this)
  readonly #warnings: RateLimitedLogger
  readonly #opened: Promise<void>
  #manifest: Manifest = EMPTY
  /** last position of the log when it was opened */
  #openedAt = 0
  #isOpen = false
  #isClosed = false
  #rounds: Promise<void> = Promise.resolve()
  #changes: Promise<unknown> = Promise.resolve()
  #stopTimer: (() => void) | undefined
  #readers = 0
  #retired: string[] = []
  #flushedAt: number
  #purgedAt: number
  /** approximate characters per entry: of the latest segment, or of the latest entries if these are longer */
  #entryLength = 200
  readonly #checkpoints = new CheckpointWriter()

  constructor(options: KeeperOptions) {
    const { log, now, logger } = options
    this.#options = options
    this.#sizes = { ...SEGMENT_SIZES, ...options.sizes }
    this.#folder = FOLDER
    this.#warnings = new RateLimitedLogger({
      write: (message, details) => logger?.warn(message, details),
      after: machineTimers.later,
    })
    this.#flushedAt = now()
    this.#purgedAt = now()
    this.#opened = this.#open()
    this.#opened.catch(() => undefined)
    log.pruner.inputs = async () => {
      await this.#opened
      return this.#manifest.position
    }
  }

  async start(): Promise<void> {
    await this.#opened
    this.#stopTimer = machineTimers.every(ROUND_MS, () => void this.round())
  }

  async stop(): Promise<void> {
    this.#isClosed = true
    this.#stopTimer?.()
    await this.#rounds
  }

  figures(): KeptFigures {
    const { inputs, since } = this.#manifest
    const messages = inputs.reduce((sum, one) => sum + one.messages, 0)
    return { bytes: sizeOf(this.#manifest), messages, oldest: this.#isOpen ? since.at : undefined }
  }

  get source(): KeptSource {
    return this
  }

  async since(): Promise<KeptSince | undefined> {
    await this.#opened
    return this.#manifest.since
  }

  async open(): Promise<void> {
    await this.#opened
    this.#readers += 1
  }

  close(): Promise<void> {
    this.#readers -= 1
    return this.#deleteRetired()
  }

  async view(): Promise<KeptView> {
    return this.#view
  }

  get #view(): KeptView {
    return { manifest: this.#manifest, position: this.#position, now: this.#options.now() }
  }

  /** The log does not know its last entry before a task or a post needs it. */
  get #position(): number {
    return Math.max(this.#openedAt, this.#options.log.position)
  }

  bytes(id: string, from: number, until: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return bytesOf(this.#options.store.blobs, id, from, until)
  }

  async logged(after: number, limit: number): Promise<LoggedInputs> {
    const entries = await this.#options.log.log.read(after, limit)
    const filter = filterOf(this.#view)
    const inputs: KeptInput[] = []
    for (const entry of entries) {
      const kept = keptOf(entry, filter)
      if (kept !== undefined) inputs.push(kept)
    }
    return { inputs, first: entries[0]?.position, last: entries.at(-1)?.position }
  }

  async report(text: string): Promise<void> {
    this.#warn(text)
  }

  read(range: InputRange, signal?: AbortSignal): AsyncGenerator<readonly KeptInput[], undefined> {
    return this.#reader.read(range, signal)
  }

  async checkpoint(
    task: string,
    before: { readonly at: number } | { readonly position: number },
  ): Promise<InputCheckpoint | undefined> {
    await this.open()
    try {
      return await readCheckpoint(this.#reader.segments, this.#manifest.checkpoints, task, before)
    } finally {
      await this.close()
    }
  }

  /** Hides all present messages of the resource; later rounds remove them. */
  async deleteResource(resource: string): Promise<void> {
    await this.#opened
    const position = this.#position
    await this.#change((manifest) => ({ ...manifest, deleted: [...manifest.deleted, [resource, position]] }))
    if (this.#manifest.deleted.length >= MAX_DELETED) await this.round()
  }

  /** `all`: writes everything in the log. Never rejects. */
  round(all = false): Promise<void> {
    this.#rounds = this.#rounds.then(() => this.#round(all)).catch((error: unknown) => this.#failed(error))
    return this.#rounds
  }

  async #round(all: boolean): Promise<void> {
    await this.#opened
    if (this.#isClosed && !all) return
    await this.#measure()
    let isFlushed = false
    while (all ? this.#behind > 0 : this.#isWorthIt) {
      await this.#flush()
      isFlushed = true
    }
    if (isFlushed) await this.#merge()
    await this.#keepCheckpoints()
    await this.#drop()
    await this.#purge(all)
    if (isFlushed) await this.#options.log.pruner.prune(false)
  }

  /** Keeps the log short when messages become larger. */
  async #measure(): Promise<void> {
    const { log } = this.#options
    const count = Math.min(MEASURED, this.#behind)
    if (count <= 0) return
    const entries = await log.log.read(this.#position - count, count)
    const characters = entries.reduce((sum, { body }) => sum + JSON.stringify(body).length, 0)
    this.#entryLength = Math.max(this.#entryLength, characters / count)
  }

  get #behind(): number {
    return this.#position - this.#manifest.position
  }

  get #isWorthIt(): boolean {
    const { entries, characters, restMs } = this.#sizes
    const behind = this.#behind
    if (behind <= 0) return false
    if (behind >= entries || behind * this.#entryLength >= characters) return true
    return this.#options.now() - this.#flushedAt >= restMs
  }

  async #open(): Promise<void> {
    const { store, log, now } = this.#options
    const { first, last } = await log.log.bounds()
    this.#openedAt = last
    const known = (await store.collection(KEPT_INPUTS).get(MANIFEST_ID))?.value
    const isContinued = known !== undefined && known.position >= first - 1 && known.position <= last
    if (known !== undefined && !isContinued) {
      const text = `kept inputs reach entry ${known.position}, the log has entries ${first} to ${last}`
      this.#warn(`${text}: one of them is older, for example from a backup. Inputs are kept from now on`)
    }
    this.#manifest = isContinued ? known : { ...EMPTY, since: { position: last + 1, at: now() }, position: last }
    if (!isContinued) await this.#change((manifest) => manifest)
    await this.#deleteOrphans()
    this.#isOpen = true
  }

  async #deleteOrphans(): Promise<void> {
    const { blobs } = this.#options.store
    const { inputs, checkpoints } = this.#manifest
    const known = new Set([...inputs, ...checkpoints].map(({ id }) => id))
    for (let after: string | undefined = ''; after !== undefined;) {
      const page: readonly { readonly path: string }[] = await blobs.list({
        prefix: this.#folder,
        ...(after !== '' && { after }),
      })
      for (const { path } of page) if (!known.has(path)) await blobs.delete(path)
      after = page.at(-1)?.path
    }
  }

  /** Applies one change after another; each is durable before it takes effect. */
  #change(make: (manifest: Manifest) => Manifest): Promise<void> {
    const { store, now } = this.#options
    const changing = this.#changes.then(async () => {
      const next = make(this.#manifest)
      const mark = { position: next.position, time: now(), later: [] }
      const writes = [store.collection(KEPT_INPUTS).putting(MANIFEST_ID, next)]
      await store.commit([...writes, store.collection(MARKS).putting(KEPT_MARK_ID, mark)])
      const kept = new Set([...next.inputs, ...next.checkpoints].map(({ id }) => id))
      const before = [...this.#manifest.inputs, ...this.#manifest.checkpoints]
      this.#retired.push(...before.map(({ id }) => id).filter((id) => !kept.has(id)))
      this.#manifest = next
    })
    this.#changes = changing.catch(() => undefined)
    return changing.then(() => this.#deleteRetired())
  }

  async #deleteRetired(): Promise<void> {
    if (this.#readers > 0) return
    // content that cannot be deleted now is deleted as an orphan at the next start
    for (const id of this.#retired.splice(0)) {
      await this.#options.store.blobs.delete(id).catch((error: unknown) => this.#warn(messageOf(error)))
    }
  }

  async #flush(): Promise<void> {
    const { log, now } = this.#options
    const writer = new SegmentWriter()
    const yielder = new Yielder(machineTimers)
    const start = this.#manifest.position
    const end = Math.min(this.#position, start + this.#sizes.entries)
    let after = start
    while (after < end && writer.characters < this.#sizes.characters) {
      const entries = await log.log.read(after, Math.min(PAGE, end - after))
      if (entries.length === 0) throw new AppError('STORE', `The log lacks entry ${after + 1}, which must be kept`)
      const filter = filterOf(this.#view)
      for (const entry of entries) {
        const kept = keptOf(entry, filter)
        if (kept === undefined) writer.covers(entry.position)
        else writer.add(kept)
      }
      after = entries.at(-1)?.position ?? end
      await yielder.due()
    }
    this.#entryLength = Math.max(1, writer.characters / (after - start))
    const segment = await this.#write(writer)
    await this.#change((manifest) => ({ ...manifest, inputs: [...manifest.inputs, segment], position: after }))
    this.#flushedAt = now()
  }

  async #write(writer: SegmentWriter): Promise<SegmentRow> {
    const { content, ...row } = await writer.segment()
    const id = `${this.#folder}${machineTimers.newId()}`
    await this.#options.store.blobs.put(id, content)
    return { ...row, id, bytes: content.length }
  }

  /** Merges the latest segments while the newer one is not much smaller, so that few small segments remain. */
  async #merge(): Promise<void> {
    for (;;) {
      const [older, newer] = this.#manifest.inputs.slice(-2)
      if (older === undefined || newer === undefined) return
      const { entries, characters } = this.#sizes
      const isTooLarge = newer.last - older.first >= entries || older.bytes + newer.bytes >= characters / 4
      if (isTooLarge || newer.last - newer.first < (older.last - older.first) / 2) return
      await this.#rewrite([older, newer])
    }
  }

  async #rewrite(segments: readonly SegmentRow[]): Promise<void> {
    const writer = new SegmentWriter()
    const yielder = new Yielder(machineTimers)
    const filter = filterOf(this.#view)
    for (const segment of segments) {
      writer.covers(segment.first)
      writer.covers(segment.last)
      for (const input of await this.#reader.segments.inputs(segment, 'all', filter)) {
        writer.add(input)
        await yielder.due()
      }
    }
    const merged = await this.#write(writer)
    await this.#change((manifest) => ({
      ...manifest,
      inputs: manifest.inputs.flatMap((one) => (one === segments[0] ? merged : segments.includes(one) ? [] : one)),
    }))
  }

  async #keepCheckpoints(): Promise<void> {
    const { tasks, now, limits } = this.#options
    const { checkpointedAt, checkpoints } = this.#manifest
    if (tasks === undefined || now() - checkpointedAt < (limits.checkpointMs ?? HOUR)) return
    const { writer, isFull } = await this.#checkpoints.take(tasks, checkpoints)
    const row = writer === undefined ? undefined : { ...(await this.#write(writer)), isFull }
    await this.#change((manifest) => ({
      ...manifest,
      checkpoints: row === undefined ? manifest.checkpoints : [...manifest.checkpoints, row],
      checkpointedAt: now(),
    }))
  }

  async #drop(): Promise<void> {
    const { limits, now, age } = this.#options
    const { inputs, checkpoints } = this.#manifest
    // a replay of the oldest instant starts from the checkpoints before it, and needs all later inputs
    const cutoff = now() - Math.min(limits.ageMs, age?.() ?? Number.POSITIVE_INFINITY)
    const round = checkpoints.findLast((one) => one.firstAt <= cutoff)
    const isTooOld = (one: SegmentRow): boolean =>
      one.lastAt < cutoff && (round === undefined || one.last <= round.first)
    let bytes = sizeOf(this.#manifest)
    let dropped = 0
    for (const one of inputs) {
      if (!isTooOld(one) && bytes <= limits.bytes) break
      bytes -= one.bytes
      dropped += 1
    }
    const next = inputs[dropped]
    const last = inputs[dropped - 1]
    const since =
      last === undefined ? this.#manifest.since : { position: last.last + 1, at: next?.firstAt ?? last.lastAt }
    const needed = checkpoints.findLastIndex((one) => one.isFull && one.lastAt <= since.at)
    if (dropped === 0 && needed <= 0) return
    await this.#change((manifest) => ({
      ...manifest,
      since,
      inputs: manifest.inputs.slice(dropped),
      checkpoints: manifest.checkpoints.slice(Math.max(0, needed)),
    }))
  }

  async #purge(all: boolean): Promise<void> {
    const { now } = this.#options
    const { deleted, position } = this.#manifest
    const isDue = all || deleted.length >= MAX_DELETED || now() - this.#purgedAt >= HOUR
    const due = deleted.filter(([, upTo]) => upTo <= position)
    if (!isDue || due.length === 0) return
    this.#purgedAt = now()
    for (const segment of this.#manifest.inputs) {
      const keys = due.filter(([, upTo]) => upTo >= segment.first).map(([resource]) => keyOfResource(resource))
      if (keys.length > 0 && (await this.#reader.segments.mayHave(segment, keys))) await this.#rewrite([segment])
    }
    await this.#change((manifest) => ({ ...manifest, deleted: manifest.deleted.filter((one) => !due.includes(one)) }))
  }

  #failed(error: unknown): void {
    if (error instanceof AppError && (error.code === 'CLOSED' || error.code === 'FENCED')) return
    this.#warn(`inputs could not be kept; this is retried: ${messageOf(error)}`)
  }

  #warn(text: string): void {
    this.#warnings.log(text, '', {})
  }
}

/** Converts a log entry to the form in which it is kept; undefined if it is not kept. */
function keptOf({ position, body }: LogEntry, { now, isDeleted }: RowFilter): NewInput | undefined {
  const found = loggedInput(body)
  if (found === undefined) return undefined
  const { input, expires } = found
  if (expires !== undefined && expires <= now) return undefined
  const kept = input.k === 'data' ? selectMessages(input, ({ resource }) => !isDeleted(resource, position)) : input
  return kept && { position, input: kept, expires }
}

const EMPTY: Manifest = {
  since: { position: 1, at: 0 },
  position: 0,
  inputs: [],
  checkpoints: [],
  checkpointedAt: 0,
  deleted: [],
}

/** Deletes everything that was kept, after keeping inputs was turned off. */
export async function deleteKept(store: Store): Promise<void> {
  if ((await store.collection(KEPT_INPUTS).get(MANIFEST_ID)) === undefined) return
  await store.commit([
    store.collection(KEPT_INPUTS).deleting(MANIFEST_ID),
    store.collection(MARKS).deleting(KEPT_MARK_ID),
  ])
  for (;;) {
    const page = await store.blobs.list({ prefix: FOLDER })
    for (const { path } of page) await store.blobs.delete(path)
    if (page.length === 0) return
  }
}

function sizeOf({ inputs, checkpoints }: Manifest): number {
  return [...inputs, ...checkpoints].reduce((sum, { bytes }) => sum + bytes, 0)
}
