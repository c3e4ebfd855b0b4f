/** What `functions deploy` does. */
import type { Terminal } from '../terminal.ts'
import { connect, type ConnectFlags, urlOf } from './connect.ts'
import type { Client } from '#client'
import type { FunctionVersion } from '#services/functions/contract'
import { deployFolder, followChange, reportDeployed } from './deploy-folder.ts'
import { readFunctionFolder } from './read-folder.ts'

export interface DeployFlags extends ConnectFlags {
  draft?: boolean
  publish?: boolean
  comment?: string
}

/** Returns 1 if the version does not run. */
export async function runDeploy(folder: string, flags: DeployFlags, terminal: Terminal): Promise<0 | 1> {
  const client = connect(flags, process.env)
  const read = await readFunctionFolder(folder)
  const { draft = false, publish = false, comment } = flags
  const functions = client.functions[read.type]
  let deployed = await deployFolder(client, read, { draft, comment }, terminal)
  const { name, version, draft: isDraft } = deployed.version
  if (publish && isDraft && deployed.problem === undefined) {
    deployed = {
      ...(await followChange(functions, await functions.publish(name, version), terminal)),
      buildLog: deployed.buildLog,
    }
  }
  const code = reportDeployed(deployed, flags.json === true, terminal)
  if (read.type === 'webscripts' && code === 0) await tellAddress(client, deployed.version, flags, terminal)
  return code
}

async function tellAddress(
  { webscripts }: Client,
  { name, version, draft }: FunctionVersion,
  flags: DeployFlags,
  terminal: Terminal,
): Promise<void> {
  const { href, secret, private: isPrivate } = await webscripts.get(name, version)
  const shown = [
    ...(isPrivate && secret !== undefined ? [`-H 'authorization: hmac-sha256 ${secret}'`] : []),
    ...(draft ? [`-H 'x-webscript-version: ${version}'`] : []),
  ]
  terminal.err(`${['curl', ...shown, `${urlOf(flags, process.env)}${href}`].join(' ')}\n`)
}
