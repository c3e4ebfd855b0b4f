/** `reflexarc backup`: backs up the data folder of a host, which may run meanwhile; lists and verifies backups. */
import { join, resolve } from 'node:path'
import { type Environment, OPTIONS, ownVersion } from '#host/spi'
import { AppError } from '#kernel'
import { BackupFolder, type Manifest } from './backup/backup-folder.ts'
import { verifyBackup } from './backup/restore-backup.ts'
import { checkApart, takeBackup } from './backup/take-backup.ts'
import { DATA, dataFolder, type DefineCommand } from './command.ts'
import { Progress } from './report/progress.ts'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  command
    .description(
      'Copies the data folder of a host on SQLite to a folder of backups, while the host runs: databases, objects and ' +
        'keys as of one instant. Each backup stores only what earlier ones lack, and can be restored alone. ' +
        'The folder contains the keys of the host: keep it as safe as the data folder. ' +
        'For a host on PostgreSQL, use pg_dump, and copy the folders of objects and of keys.',
    )
    .argument('<folder>', 'the folder of backups; created by the first one')
    .option(...DATA)
    .option('--blobs <folder>', 'the folder of objects, if it is not in the data folder (REFLEXARC_BLOBS)')
    .option('--keep <number>', 'remove all but this number of the newest backups')
    .option('--list', 'list the backups instead')
    .option('--verify [backup]', 'read a backup (default: the newest) instead, and compare all checksums')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  reflexarc backup /mnt/backups --data ./data --keep 30')
    .action((folder: string, flags: BackupFlags) =>
      start((terminal) => runBackup(resolve(folder), flags, process.env, terminal, Date.now)),
    )
}

export interface BackupFlags {
  data?: string
  blobs?: string
  keep?: string
  list?: boolean
  verify?: string | true
  json?: boolean
}

/** Returns 1 when a backup is damaged. Throws `USAGE` for options, `STORE` when data cannot be read or written. */
export async function runBackup(
  path: string,
  flags: BackupFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out' | 'err' | 'errIsTerminal'>,
  now: () => number,
): Promise<0 | 1> {
  const keep = keepOf(flags)
  const print = (value: object, lines: readonly string[]): void =>
    terminal.out(flags.json === true ? `${JSON.stringify(value)}\n` : `${lines.join('\n')}\n`)
  const progress = new Progress((text) => terminal.errIsTerminal && terminal.err(text), now)
  const show = (share: number, text: string): void => progress.show(share, text)
  const isReading = flags.list === true || flags.verify !== undefined
  const source = sourceOf(flags, env)
  if (!isReading) checkApart(path, source)
  using folder = await BackupFolder.open(path, !isReading)
  try {
    if (flags.list === true) {
      const backups = await listOf(folder)
      print({ backups }, backups.length === 0 ? ['no backups'] : tableLines(rowsOf(backups), new Set([2, 3])))
      return 0
    }
    if (flags.verify !== undefined) {
      const manifest = await folder.read(flags.verify === true ? undefined : flags.verify)
      const problems = await verifyBackup(folder, manifest, show)
      progress.clear()
      const { name, files } = manifest
      const intact = `the backup ${name} is intact: read ${files.length} files`
      print({ name, files: files.length, problems }, problems.length === 0 ? [intact] : problems)
      return problems.length === 0 ? 0 : 1
    }
    const names = await folder.names()
    const previous = names.length === 0 ? undefined : await folder.read()
    const naming = { name: nameAt(now(), names.at(-1)), version: ownVersion() }
    const taken = await withFullDisk(path, () => takeBackup(source, { folder, previous, progress: show }, naming))
    const removed = keep === undefined ? [] : await folder.keep(keep)
    progress.clear()
    const removal = removed.length === 0 ? '' : `; removed ${removed.join(', ')}`
    print({ ...taken, removed }, [
      `backup ${taken.name}: ${taken.files} files of ${sizeText(taken.bytes)}, ${sizeText(taken.written)} new${removal}`,
    ])
    return 0
  } finally {
    progress.clear()
  }
}

export function sourceOf(
  flags: Pick<BackupFlags, 'data' | 'blobs'>,
  env: Environment,
): { data: string; blobs: string } {
  const data = dataFolder(flags, env)
  return { data, blobs: resolve(flags.blobs ?? (env[OPTIONS.blobs.env] || join(data, 'blobs'))) }
}

function keepOf({ keep, list, verify }: BackupFlags): number | undefined {
  if (list === true && verify !== undefined)
    throw new AppError('USAGE', '--list and --verify exclude each other; use one of them')
  if (keep === undefined) return undefined
  const count = Number(keep)
  if (Number.isSafeInteger(count) && count >= 1) return count
  throw new AppError('USAGE', `--keep: "${keep}" is not a valid number; use a whole number from 1, such as 30`)
}

/** Names sort by time, even if the clock was set back since the last backup. */
function nameAt(ms: number, last: string | undefined): string {
  const text = new Date(ms).toISOString().replaceAll(/[-:]/g, '').replace('.', '')
  if (last === undefined || text > last) return text
  const after = /^(.*?)(?:~(\d+))?$/.exec(last)
  return `${after?.[1] ?? last}~${String(Number(after?.[2] ?? 0) + 1).padStart(3, '0')}`
}

interface ListedBackup {
  readonly name: string
  readonly version: string
  readonly files: number
  readonly bytes: number
}

async function listOf(folder: BackupFolder): Promise<readonly ListedBackup[]> {
  const list: ListedBackup[] = []
  for (const name of await folder.names()) {
    const { version, files }: Manifest = await folder.read(name)
    list.push({ name, version, files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) })
  }
  return list
}

const rowsOf = (backups: readonly ListedBackup[]): readonly (readonly string[])[] => [
  ['backup', 'version', 'files', 'bytes'],
  ...backups.map(({ name, version, files, bytes }) => [name, version, String(files), String(bytes)]),
]

function sizeText(bytes: number): string {
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  return bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`
}

async function withFullDisk<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isFull =
      error instanceof Error && (('code' in error && error.code === 'ENOSPC') || /disk is full/.test(error.message))
    if (!isFull) throw error
    throw new AppError(
      'STORE',
      `${folder}: the disk is full; free some space, or use --keep. Earlier backups are intact`,
      { cause: error },
    )
  }
}
