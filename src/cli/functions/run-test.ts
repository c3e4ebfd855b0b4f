/** Implements `functions test`: deploys a function on a host in memory and calls it once. */
import { AppError, isPlainObject } from '#kernel'
import type { Client } from '#client'
import type { FunctionVersion } from '#services/functions/contract'
import type { Manifest } from '#services/functions'
import { parseBody } from '#services/shared'
import type { Terminal } from '../terminal.ts'
import { deployFolder, reportDeployed } from './deploy-folder.ts'
import { lendSecrets, type OwnHost, withOwnHost } from './own-host.ts'
import { readFunctionFolder } from './read-folder.ts'

export interface TestFlags {
  properties?: string
  path?: string
  body?: string
  functions: string
  json?: boolean
}

/** Services of the test host; a webscript may need any service. */
const ONLY = {
  plugs: { only: 'functions,rules,vault' },
  webscripts: {},
  models: { only: 'functions,models' },
} as const

/** Tests a function. Returns 1 if it does not run, or if the call fails. */
export async function runTest(folder: string, flags: TestFlags, terminal: Terminal): Promise<0 | 1> {
  const properties = propertiesOf(flags.properties)
  const read = await readFunctionFolder(folder)
  return withOwnHost({ functions: flags.functions, ...ONLY[read.type] }, terminal, async ({ client, host }) => {
    await lendSecrets(client, read.manifest, process.env)
    const deployed = await deployFolder(client, read, { draft: false }, terminal)
    if (read.type === 'webscripts' && deployed.problem === undefined && flags.path !== undefined) {
      return callWebscript({ client, host }, deployed.version, flags, terminal)
    }
    if (read.type === 'models' && deployed.problem === undefined && flags.body !== undefined) {
      const { name } = deployed.version
      const answer = await client.models.predict(name, { instances: parsed(flags.body) as readonly unknown[] })
      terminal.out(`${JSON.stringify(answer)}\n`)
      return 0
    }
    if (deployed.problem !== undefined || properties === undefined || read.type !== 'plugs') {
      return reportDeployed(deployed, flags.json === true, terminal)
    }
    const outcome = await callOnce(client, read.manifest, deployed.version.version, properties)
    for (const { level, text } of await client.functions[read.type].log(read.manifest.name, deployed.version.version)) {
      terminal.err(`${level.padEnd(6)} ${text}\n`)
    }
    const isGood = outcome['result'] === true
    terminal.out(`${JSON.stringify(outcome, undefined, flags.json === true ? undefined : 2)}\n`)
    return isGood ? 0 : 1
  })
}

async function callWebscript(
  { client }: OwnHost,
  { name, version }: FunctionVersion,
  { path = '/', body, json }: TestFlags,
  terminal: Terminal,
): Promise<0 | 1> {
  const { href, secret = '' } = await client.webscripts.get(name, version)
  const headers = {
    authorization: `hmac-sha256 ${secret}`,
    ...(body !== undefined && { 'content-type': parsed(body) === undefined ? 'text/plain' : 'application/json' }),
  }
  const url = `${href}${path.startsWith('/') ? path : `/${path}`}`
  const answer = await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) })
  const text = await answer.text()
  const { values } = await client.webscripts.log(name, { kind: 'console' })
  for (const { level, message } of values.toReversed()) terminal.err(`${level.padEnd(6)} ${message}\n`)
  if (json === true)
    terminal.out(
      `${JSON.stringify({ status: answer.status, headers: Object.fromEntries(answer.headers), body: text })}\n`,
    )
  else terminal.out(`${answer.status} ${answer.headers.get('content-type') ?? ''}\n${text}\n`)
  return answer.ok ? 0 : 1
}

async function callOnce(
  { rules }: Client,
  { name, type }: Manifest,
  version: string,
  properties: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const family = type === 'sensor' ? 'sensors' : 'actions'
  return { ...(await rules.tools.call(family, name, version, { properties })) }
}

function propertiesOf(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined
  const value = parsed(text)
  if (isPlainObject(value)) return value
  throw new AppError(
    'USAGE',
    `--properties: ${text.slice(0, 100)} is not a JSON object; write an object such as '{"value": 30}'`,
  )
}

function parsed(text: string): unknown {
  try {
    return parseBody(text)
  } catch {
    return undefined
  }
}
