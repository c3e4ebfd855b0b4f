/** x */
import { Answer } from '../parts/layout.tsx'
export function Resources() {
  return <Answer title="Resources" />
}
