/** Copies a request as a curl command. */
import { API } from '../base.ts'
import { curlText } from '../words/curl.ts'
import { Icon } from './icons.tsx'
import { done } from './undo.tsx'

export function CopyCurl({
  method,
  path,
  body,
}: {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}) {
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(curlText(`${API}${path}`, method, body))
    done('Copied as curl')
  }
  return (
    <button type="button" class="quiet wide-only" onClick={() => void copy()}>
      <Icon name="copy" /> Copy as curl
    </button>
  )
}
