/** `reflexarc import FILE`: imports a file of messages as series on a host. */
import type { DefineCommand } from './command.ts'
import { connected } from './connected.ts'
import { withReadingFlags } from './recording/reading-flags.ts'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '#client'
import { AppError, messageOf } from '#kernel'
import type { ImportInfo } from '#services/objects'
import type { Environment } from '#host/spi'
import { connect, type ConnectFlags } from './functions/connect.ts'
import { readReadingFlags, type ReadingFlags } from './recording/reading-flags.ts'
import { Progress } from './report/progress.ts'
import type { Terminal } from './terminal.ts'
import { visible } from './visible.ts'

export const define: DefineCommand = (command, start) => {
  withReadingFlags(connected(command))
    .description(
      'Uploads a CSV or NDJSON file, optionally compressed with gzip, to the bucket etl-import of a host, and waits until it\n' +
        'is imported into series. After an interruption, run the command again to continue. The exit code is 1 if the import\n' +
        'fails, or if lines of the file are rejected.',
    )
    .argument(
      '<file>',
      'file with the columns resource, timestamp and metrics, or resource, metric, timestamp and value',
    )
    .option('--resource <id>', 'resource of messages without one')
    .option('--zone <zone>', 'zone of times without an offset, such as Europe/Brussels (default: UTC)')
    .option('--again', 'import the file even if the same content was imported before')
    .option('--as <path>', 'path under upload/; default: the name of the file')
    .action((file: string, flags: ImportFlags) => start((terminal) => runImport(file, flags, terminal, process.env)))
}

export interface ImportFlags extends ConnectFlags, ReadingFlags {
  resource?: string
  zone?: string
  as?: string
  again?: boolean
}

const BUCKET = 'etl-import'
const UPLOADS = 'upload/'
const LOOK_MS = 200
/** Time in ms within which the import of an upload must begin */
const PATIENCE_MS = 60_000
const MAX_SHOWN = 20

export async function runImport(
  file: string,
  flags: ImportFlags,
  terminal: Terminal,
  env: Environment,
): Promise<0 | 1> {
  const problems: string[] = []
  readReadingFlags(flags, problems)
  if (flags.resource === '') problems.push('--resource: the id is empty; write the id of a resource')
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
  const client = connect(flags, env)
  const write = (text: string): void => (terminal.errIsTerminal ? terminal.err(text) : undefined)
  const progress = new Progress(write, () => performance.now())
  try {
    const { size, etag } = await lookAt(file)
    const object = UPLOADS + (flags.as ?? basename(file)).replace(/^\/+/, '')
    const before = await importOf(client, object, etag)
    // if the same content was imported in the same way before, follow that import instead of repeating it
    const isSame = before !== undefined && before.state !== 'failed' && isReadSo(before, flags)
    const isThere = isSame && flags.again !== true
    if (!isThere && !(await isPut(client, object, etag))) await upload(client, file, { object, size, flags }, progress)
    const done = await followed(client, object, { etag, since: isThere ? undefined : before?.id }, progress)
    progress.clear()
    return report(file, done, flags, terminal)
  } finally {
    progress.clear()
  }
}

async function lookAt(file: string): Promise<{ readonly size: number; readonly etag: string }> {
  try {
    const found = await stat(file)
    if (!found.isFile()) throw new AppError('NOT_FOUND', `${file}: not a file`)
    const hash = createHash('md5')
    for await (const piece of createReadStream(file)) hash.update(piece as Uint8Array)
    return { size: found.size, etag: hash.digest('hex') }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('NOT_FOUND', `${file}: cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

const READING = ['unit', 'types', 'encoding', 'delimiter', 'decimal', 'map', 'zone', 'resource'] as const

function isReadSo({ reading = {} }: ImportInfo, flags: ImportFlags): boolean {
  return READING.every((name) => reading[name] === textIn(flags, name))
}

function textIn(flags: ImportFlags, name: (typeof READING)[number]): string | undefined {
  const value = flags[name]
  if (typeof value !== 'object') return value
  return value.length === 0 ? undefined : JSON.stringify(value)
}

/** Whether the file was uploaded but not imported, since an earlier run was interrupted. */
async function isPut(client: Client, object: string, etag: string): Promise<boolean> {
  try {
    const found = await client.objects.stat(BUCKET, object)
    // a failed import is repeated by uploading the file again
    return found.etag === etag && (await importOf(client, object, etag)) === undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return false
    throw error
  }
}

async function upload(
  client: Client,
  file: string,
  { object, size, flags }: { readonly object: string; readonly size: number; readonly flags: ReadingFlags },
  progress: Progress,
): Promise<void> {
  const metadata = READING.flatMap((name): [string, string][] => {
    const text = textIn(flags, name)
    return text === undefined ? [] : [[name, encodeURIComponent(text)]]
  })
  const { href } = await client.objects.sign(BUCKET, object, 'PUT', {
    expiry_days: 1,
    ...(metadata.length > 0 && { metadata: new URLSearchParams(metadata).toString() }),
  })
  let sent = 0
  const content = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of createReadStream(file, { highWaterMark: 1 << 18 })) {
      sent += (piece as Uint8Array).length
      progress.show(size === 0 ? 1 : sent / size, 'put')
      yield piece as Uint8Array
    }
  }
  const response = await fetch(href, {
    method: 'PUT',
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': String(size),
      ...Object.fromEntries(metadata.map(([name, text]) => [`x-amz-meta-${name}`, text])),
    },
    body: Readable.toWeb(Readable.from(content())) as ReadableStream,
    duplex: 'half',
  })
  const text = await response.text()
  if (response.ok) return
  const why = /<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? `${response.status} ${response.statusText}`
  throw new AppError('FORWARDING', `${file} could not be uploaded: ${why}`)
}

/** Waits for an import to finish. `since`: id of an earlier import to ignore. */
async function followed(
  client: Client,
  object: string,
  { etag, since }: { readonly etag: string; readonly since: string | undefined },
  progress: Progress,
): Promise<ImportInfo> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const found = await importOf(client, object, etag)
    if (found !== undefined && found.id !== since) {
      if (found.ended !== undefined) return client.subscriptions.transfers.import(found.id)
      progress.show(found.size === 0 ? 1 : found.read / found.size, `${found.points} points`)
    } else if (performance.now() > until) {
      throw new AppError(
        'FORWARDING',
        `${object} of ${BUCKET} was uploaded, but its import has not begun; run the command again later`,
      )
    }
    await pause(LOOK_MS)
  }
}

async function importOf(client: Client, object: string, etag: string): Promise<ImportInfo | undefined> {
  return (await client.subscriptions.transfers.imports({ object })).find((one) => one.etag === etag)
}

function report(file: string, info: ImportInfo, { json }: ImportFlags, terminal: Terminal): 0 | 1 {
  const { state, messages, points, refused, lines = [], notes = [], error } = info
  if (json === true) terminal.out(`${JSON.stringify(info, null, 2)}\n`)
  else terminal.out(`${file}: ${messages} messages with ${points} points were imported\n`)
  for (const { line, message } of notes.slice(0, MAX_SHOWN)) {
    terminal.err(`${visible(`NOTE ${file}:${line}: ${message}`)}\n`)
  }
  for (const { line, message, suggestion } of lines.slice(0, MAX_SHOWN)) {
    terminal.err(`${visible(`${file}:${line}: ${message}${suggestion === undefined ? '' : `; ${suggestion}`}`)}\n`)
  }
  if (refused > MAX_SHOWN) terminal.err(`${file}: and ${refused - MAX_SHOWN} more lines were rejected\n`)
  // a problem of the whole file may already be among the lines
  if (error !== undefined && lines.length === 0) terminal.err(`${file}: ${error}\n`)
  return state === 'failed' || refused > 0 || error !== undefined ? 1 : 0
}
