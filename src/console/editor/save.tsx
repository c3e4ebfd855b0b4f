/** Saves a draft as a template, or as a new version of one that no other user has changed meanwhile. */
import { useState } from 'preact/hooks'
import { done } from '../parts/undo.tsx'
import { go, to, withQuery } from '../router.ts'
import { api, may } from '../session.ts'
import { messageOf } from '../words/errors.ts'
import type { Json } from './rule-edits.ts'

export interface SaveProps {
  /** of a stored template; undefined: the draft is new */
  readonly name: string | undefined
  readonly revision: number | undefined
  readonly value: Json | undefined
  readonly isBroken: boolean
  readonly isChanged: boolean
  onSaved(revision: number | undefined): void
  /** before the editor shows the new template */
  onCreated(): void
  onConflict(): void
}

const publication = (): string => (may('publish') ? '' : '; it is a draft until another user publishes it')

export function Save({ name, revision, value, isBroken, isChanged, onSaved, onCreated, onConflict }: SaveProps) {
  const [isBusy, setBusy] = useState(false)
  const save = async (): Promise<void> => {
    if (value === undefined) return
    setBusy(true)
    try {
      const specification = value as unknown as { readonly name: string }
      if (name === undefined) {
        await api.rules.templates.create(specification, { draft: !may('publish') })
        done(`Saved as ${specification.name}${publication()}`)
        onCreated()
        go(withQuery(to('editor'), { template: specification.name }))
      } else {
        const options = { draft: !may('publish'), ...(revision !== undefined && { ifRevision: revision }) }
        const { version, revision: next } = await api.rules.templates.replace(name, specification, options)
        done(`Saved as version ${version}${publication()}`)
        onSaved(next)
      }
    } catch (thrown) {
      if ((thrown as { readonly code?: string }).code === 'PRECONDITION') onConflict()
      else done(`Not saved: ${messageOf(thrown)}`)
    }
    setBusy(false)
  }
  const isOff = isBroken || !isChanged || isBusy
  return (
    <button
      type="button"
      class="primary"
      aria-disabled={isOff}
      title={isBroken ? 'The problems below have to be fixed first' : undefined}
      onClick={() => !isOff && void save()}
    >
      {name === undefined ? 'Save as template' : 'Save'}
    </button>
  )
}
