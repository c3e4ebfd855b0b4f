/** Secrets of a function that is tried on this machine: from the environment of who tries it, by the same names. */
import type { Client } from '#client'
import type { Manifest } from '#services/functions'

/** A name that the environment does not have is missing, as it would be on another host. */
export async function lendSecrets(
  { vault }: Client,
  { deploy }: Manifest,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  for (const name of deploy?.secrets ?? []) {
    const value = environment[name]
    if (value !== undefined && value !== '') await vault.put(name, value)
  }
}
