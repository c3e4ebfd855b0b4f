/** `reflexarc doctor`: lists the damage of a data folder. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Environment, openMedium, OPTIONS, readKey, SEAL_KEYS } from '#host/spi'
import { AppError, messageOf } from '#kernel'
import { LOG_NAME } from '#log'
import { nothing, projectEntry } from '#services/broker'
import { warningsOfStored } from '#services/calendars'
import {
  type Damage,
  documentsIn,
  examineFile,
  examineObjects,
  type FileName,
  type NewMessage,
  rebuildFile,
  type Sample,
  type Store,
} from '#storage'
import { lockFolder } from '#storage/sqlite/folder-lock'
import { DATA, dataFolder, type DefineCommand } from './command.ts'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'

/** Damage with its place; `restored`: number of entries restored from the log. */
type RepairedDamage = Damage & { readonly restored?: number }

const PAGE = 500

/** Repairs a folder. `aside`: a new folder for damaged parts. Objects and keys are left as they are. */
async function repairFolder(
  { data, blobs }: { readonly data: string; readonly blobs: string },
  damaged: readonly Damage[],
  aside: string,
): Promise<readonly RepairedDamage[]> {
  for (const file of FILES) {
    if (damaged.some(({ place }) => place.startsWith(file))) rebuildFile(join(data, file), file, aside)
  }
  const lost = damaged.filter(isSeries)
  if (lost.length === 0) return damaged
  const restored = new Map<Damage, number>()
  const storage = await openMedium({ store: { medium: 'sqlite' }, data, blobs })
  try {
    for (const tenant of await storage.tenants()) {
      await applyAgain(
        storage.tenant(tenant),
        lost.filter((one) => (one.tenant ?? tenant) === tenant),
        restored,
      )
    }
  } finally {
    await storage.close()
  }
  return damaged.map((one) => (isSeries(one) ? { ...one, restored: restored.get(one) ?? 0 } : one))
}

/** For unreadable pages of series, everything in the log may have been lost. */
function isSeries({ place, what }: Damage): boolean {
  return what === 'samples' || what === 'messages' || (what === 'structure' && place.startsWith('series.db '))
}

/** Restores only lost entries, since others in the log may have been deleted from series later. */
async function applyAgain(store: Store, lost: readonly Damage[], restored: Map<Damage, number>): Promise<void> {
  if (lost.length === 0) return
  const log = store.log(LOG_NAME)
  const { first, last } = await log.bounds()
  for (let after = first - 1; after < last;) {
    const entries = await log.read(after, PAGE)
    const found = nothing()
    for (const { body } of entries) projectEntry(body, found)
    const wanted = (what: Damage['what'], one: Sample | NewMessage): boolean => {
      const metric = 'metric' in one ? one.metric : one.stream
      const places = lost.filter(
        (key) => key.what === 'structure' || (key.what === what && isWithin(key, one.resource, metric, one.time)),
      )
      for (const key of places) restored.set(key, (restored.get(key) ?? 0) + 1)
      return places.length > 0
    }
    await store.series.append({
      samples: found.samples.filter((one) => wanted('samples', one)),
      messages: found.messages.filter((one) => wanted('messages', one)),
    })
    const read = entries.at(-1)?.position
    if (read === undefined) return
    after = read
  }
}

function isWithin({ name, metric, from = 0, until = 0 }: Damage, resource: string, of: string, time: number): boolean {
  return name === resource && metric === of && time >= from && time <= until
}

export const define: DefineCommand = (command, start) => {
  command
    .description(
      'Reads a whole data folder, even while a host uses it, and lists damage: rows of state.db and series.db, objects, and\n' +
        'keys; it also warns of gaps in the hand-over of calendars. Changes nothing. The exit code is 1 if anything is damaged.\n' +
        'With --repair, which requires that the host is stopped, it moves damaged files aside, rebuilds them from the intact\n' +
        'data, and restores lost samples and messages that the log still contains. Objects and keys are not changed.',
    )
    .option(...DATA)
    .option('--blobs <folder>', 'the folder of objects, if it is not in the data folder (REFLEXARC_BLOBS)')
    .option('--repair', 'move damaged files aside, and list lost data')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  reflexarc doctor --data ./data')
    .action((flags: DoctorFlags) => start((terminal) => runDoctor(flags, process.env, terminal, Date.now)))
}

export interface DoctorFlags {
  data?: string
  blobs?: string
  json?: boolean
  repair?: boolean
}

interface Examination {
  readonly folder: string
  readonly rows: number
  readonly objects: number
  readonly damaged: readonly RepairedDamage[]
  /** problems of the configuration, one sentence each */
  readonly warnings: readonly string[]
  readonly aside?: string
}

const FILES: readonly FileName[] = ['state.db', 'series.db']

/** Returns 1 if damage remains. Throws `USAGE` without a store, `STORE` for another version or a used folder. */
export async function runDoctor(
  flags: DoctorFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
  now: () => number,
): Promise<0 | 1> {
  const folder = dataFolder(flags, env)
  const blobs = resolve(flags.blobs ?? (env[OPTIONS.blobs.env] || join(folder, 'blobs')))
  if (!existsSync(folder) || !FILES.some((file) => existsSync(join(folder, file)))) {
    throw new AppError(
      'USAGE',
      `--data: ${folder} does not contain data of a host; use the data folder of a host that has started`,
    )
  }
  const isRepair = flags.repair === true
  if (isRepair) lockFolder(folder)()
  const examined = await examineFolder(folder, blobs, now())
  const found = isRepair ? await repaired(examined, blobs, now) : examined
  terminal.out(flags.json === true ? `${JSON.stringify(found)}\n` : `${report(found).join('\n')}\n`)
  return found.damaged.every((one) => found.aside !== undefined && isRepaired(one)) ? 0 : 1
}

/** Whether a repair covers this damage: objects and keys cannot be restored. */
const isRepaired = ({ what }: Damage): boolean => what !== 'object' && what !== 'key'

async function repaired(found: Examination, blobs: string, now: () => number): Promise<Examination> {
  if (!found.damaged.some(isRepaired)) return found
  const aside = join(found.folder, 'damaged', new Date(now()).toISOString().replaceAll(':', '-'))
  const damaged = await repairFolder({ data: found.folder, blobs }, found.damaged, aside)
  return { ...found, damaged, aside }
}

async function examineFolder(folder: string, blobs: string, now: number): Promise<Examination> {
  const damaged: Damage[] = []
  let [rows, objects] = [0, 0]
  for (const file of FILES) {
    const path = join(folder, file)
    if (!existsSync(path)) {
      damaged.push({ place: file, what: 'structure', problem: 'the file is missing' })
      continue
    }
    const examined = examineFile(path, file)
    rows += examined.rows
    damaged.push(...examined.damaged)
  }
  for await (const { tenant, path, problem } of examineObjects(blobs)) {
    objects += 1
    if (problem !== undefined) damaged.push({ place: 'blobs', what: 'object', tenant, name: path, problem })
  }
  for (const name of ['token.key', ...SEAL_KEYS]) {
    const path = join(folder, name)
    if (!existsSync(path)) continue
    try {
      readKey(path, 'doctor does not change keys')
    } catch (error) {
      damaged.push({ place: name, what: 'key', problem: messageOf(error) })
    }
  }
  return { folder, rows, objects, damaged, warnings: warningsIn(join(folder, 'state.db'), now) }
}

const MAX_WARNINGS = 3

/** Returns gaps in the hand-over of calendars; the first ones of each calendar. */
function warningsIn(path: string, now: number): readonly string[] {
  if (!existsSync(path)) return []
  try {
    return documentsIn(path, 'calendars').flatMap(({ tenant, id, body }) => {
      return warningsOfStored(body, now)
        .slice(0, MAX_WARNINGS)
        .map((text) => `calendar ${id} of tenant ${tenant}: ${text}`)
    })
  } catch (error) {
    return [`calendars cannot be read: ${messageOf(error)}`]
  }
}

function report({ folder, rows, objects, damaged, warnings, aside }: Examination): readonly string[] {
  const looked = `${rows} rows and ${objects} objects in ${folder}`
  const warned = warnings.map((text) => `warning: ${text}`)
  if (damaged.length === 0) return [...warned, `no damage: read ${looked}`]
  const lines = damaged.map((one) => [
    one.place,
    one.what,
    [one.tenant, one.name, one.metric].filter((part) => part !== undefined).join(' '),
    timeCell(one.from),
    timeCell(one.until),
    String(one.count ?? ''),
    ...(aside === undefined ? [] : [String(one.restored ?? '')]),
    one.problem.split('\n')[0] ?? '',
  ])
  const heads = [
    'place',
    'what',
    'of',
    'from',
    'until',
    'count',
    ...(aside === undefined ? [] : ['restored']),
    'problem',
  ]
  return [
    ...warned,
    ...tableLines([heads, ...lines], new Set([5, ...(aside === undefined ? [] : [6])])),
    '',
    `${damaged.length} damaged entries; read ${looked}; ${adviceOf(aside)}`,
  ]
}

function adviceOf(aside: string | undefined): string {
  if (aside !== undefined)
    return `the damaged files are now in ${aside}; the listed data is lost unless it was restored`
  return 'stop the host, then restore the folder from a backup, or keep the intact data with --repair'
}

/** Formats a time; damaged times may be out of range. */
function timeCell(time: number | undefined): string {
  if (time === undefined) return ''
  return Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(time)
}
