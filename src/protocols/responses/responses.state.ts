import { type CreatedState, createdState } from '../contract/index.js';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';

// Which state a response of this protocol says was created, by the types of openai 7.57.0: the conversation, containers of
// the code interpreter and the shell, and files that code wrote (`container_file_citation`, `file_path`).

/** @param response whole */
export const stateOfResponse = ({ conversation, output }: JsonObject): readonly CreatedState[] => [
  ...(isJsonObject(conversation) ? createdState('conversation', conversation['id']) : []),
  ...objectsIn(output).flatMap(stateOfItem),
];

/** @param item of the output */
export function stateOfItem({ type, container_id: id, environment, content }: JsonObject): readonly CreatedState[] {
  switch (type) {
    case 'code_interpreter_call':
      return createdState('container', id);
    case 'shell_call':
      return isJsonObject(environment) ? createdState('container', environment['container_id']) : [];
    case 'message':
      return objectsIn(content).flatMap(({ annotations }) => objectsIn(annotations).flatMap(stateOfAnnotation));
    default:
      return [];
  }
}

/** Other citations are of files that were there before. */
function stateOfAnnotation({ type, container_id: containerId, file_id: fileId }: JsonObject): readonly CreatedState[] {
  if (type === 'file_path') return createdState('file', fileId);
  if (type !== 'container_file_citation') return [];
  return [...createdState('container', containerId), ...createdState('file', fileId)];
}

const objectsIn = (list: unknown): readonly JsonObject[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);
