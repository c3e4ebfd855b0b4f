/** Opens the source of a recording: a file, or standard input held in memory. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { AppError, messageOf } from '#kernel'

/** Bytes that can be read twice: once for the check, once for the run. */
export interface Source {
  readonly name: string
  open(): AsyncIterable<Uint8Array>
}

/** A file is read again each time; streams (stdin, pipes) are held in memory. Throws `NOT_FOUND`. */
export async function openSource(path: string): Promise<Source> {
  if (path === '-') return kept('stdin', process.stdin)
  const found = await stat(path).catch((error: unknown) => {
    throw new AppError('NOT_FOUND', `${path}: cannot be read: ${reasonOf(error)}`, { cause: error })
  })
  if (found.isDirectory()) throw new AppError('NOT_FOUND', `${path}: is a folder; name a file in it`)
  const open = () => createReadStream(path, { highWaterMark: 1 << 17 })
  return found.isFile() ? { name: path, open: () => readable(path, open()) } : kept(path, open())
}

export async function textOf(source: Source): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of source.open()) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

export async function textAt(path: string): Promise<string> {
  return textOf(await openSource(path))
}

async function* readable(path: string, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* stream
  } catch (error) {
    throw new AppError('NOT_FOUND', `${path}: cannot be read: ${reasonOf(error)}`, { cause: error })
  }
}

async function kept(name: string, stream: AsyncIterable<Uint8Array>): Promise<Source> {
  const chunks: Uint8Array[] = []
  for await (const chunk of readable(name, stream)) chunks.push(chunk)
  return {
    name,
    async *open() {
      yield* chunks
    },
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'the file does not exist'
  if (code === 'EACCES' || code === 'EPERM') return 'no permission'
  return messageOf(error)
}
