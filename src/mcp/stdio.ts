/** Serves the tools on standard input and output, to the assistant that started this process. */
import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { machineTimers } from '#platform'
import { serveTools, type ServerOptions } from './server.ts'

/** Maximum size of a message, in bytes */
const MAX_MESSAGE = 4 * 1024 * 1024

export interface Streams {
  readonly input: Readable
  readonly output: Writable
}

/** Resolves when the input ends and all calls are answered. Rejects after a message that is too long. */
export async function serveStdio({ input, output }: Streams, options: ServerOptions): Promise<void> {
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE })
  const inputEnded = new Promise<void>((resolve) => input.once('end', resolve))
  const closed = new Promise<never>((_, reject) => {
    let problem = new Error('the connection was closed')
    Object.assign(transport, {
      onerror: (error: Error) => {
        problem = error
      },
      onclose: () => reject(problem),
    })
    output.once('error', reject)
  })
  // reported below, unless the input ended first
  closed.catch(() => undefined)
  const server = await serveTools(transport, options)
  try {
    await Promise.race([inputEnded, closed])
    // the last messages reach their handlers
    await machineTimers.breathe()
    await Promise.race([server.idle(), closed])
    // the last answers are written
    await machineTimers.breathe()
  } finally {
    await server.close()
  }
}
