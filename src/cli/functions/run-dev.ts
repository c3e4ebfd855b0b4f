/** Implements `functions dev`: runs a webscript on a host in memory, and deploys a new version after each change. */
import { watch } from 'node:fs/promises'
import { AppError, messageOf } from '#kernel'
import type { Client } from '#client'
import { untilSignal } from '../command.ts'
import type { Terminal } from '../terminal.ts'
import { followChange, reportDeployed } from './deploy-folder.ts'
import { lendSecrets, withOwnHost } from './own-host.ts'
import { type FunctionFolder, readFunctionFolder } from './read-folder.ts'

export interface DevFlags {
  port: string
  functions: string
}

/** Time in ms within which file changes count as one change */
const TOGETHER = 100

export async function runDev(folder: string, { port, functions }: DevFlags, terminal: Terminal): Promise<0 | 1> {
  const first = await readFunctionFolder(folder)
  if (first.type !== 'webscripts') {
    throw new AppError('USAGE', `${folder} has no webscript; "reflexarc functions test" calls a plug`)
  }
  const stop = untilSignal()
  return withOwnHost({ port, functions }, terminal, async ({ client }) => {
    const { name } = first.manifest
    await lendSecrets(client, first.manifest, process.env)
    await deployNext(client, first, terminal)
    const { href } = await client.webscripts.get(name)
    terminal.out(`${name} is at ${href}\n`)
    const following = follow(client, name, stop, terminal)
    await redeploy(folder, client, stop, terminal)
    await following
    return 0
  })
}

/** Deploys with the next version number instead of the manifest's, and without access control on this machine. */
async function deployNext(client: Client, { files, manifest }: FunctionFolder, terminal: Terminal): Promise<void> {
  const { webscripts } = client.functions
  const manifestFile = new TextEncoder().encode(JSON.stringify({ ...manifest, private: false }))
  const open = new Map([...files, ['webscript.json', manifestFile]])
  const change = await webscripts.create(open, { version: `^${manifest.version ?? '1.0.0'}` })
  reportDeployed(await followChange(webscripts, change, terminal), false, terminal)
}

async function redeploy(folder: string, client: Client, signal: AbortSignal, terminal: Terminal): Promise<void> {
  let next: NodeJS.Timeout | undefined
  let work: Promise<void> = Promise.resolve()
  const again = async (): Promise<void> => {
    try {
      await deployNext(client, await readFunctionFolder(folder), terminal)
    } catch (error) {
      terminal.err(`${messageOf(error)}\n`)
    }
  }
  try {
    for await (const { filename } of watch(folder, { recursive: true, signal })) {
      if (filename?.split('/').some((part) => part.startsWith('.') || part === 'node_modules')) continue
      clearTimeout(next)
      next = setTimeout(() => {
        work = work.then(again)
      }, TOGETHER)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    clearTimeout(next)
    await work
  }
}

async function follow({ webscripts }: Client, name: string, signal: AbortSignal, terminal: Terminal): Promise<void> {
  try {
    for await (const { level, message } of webscripts.tail(name, { signal })) {
      terminal.err(`${level.padEnd(6)} ${message}\n`)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
